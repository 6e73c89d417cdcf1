//! Which processes are recorded.

/// Flag of a [`Filter`]: the processes in the map `PROCESSES`, by number.
pub const FILTER_BY_PROCESS: u32 = 1;
/// Flag of a [`Filter`]: the processes in one of the cgroups of the map `CGROUPS`, or in one below, within [`CGROUP_LEVELS`].
pub const FILTER_BY_CGROUP: u32 = 2;
/// Flag of a [`Filter`]: the processes with one of the names of the map `NAMES`.
pub const FILTER_BY_NAME: u32 = 8;

/// The flags that select processes: what one of them selects is recorded, and with none of them all processes are.
pub const FILTERS_OF_PROCESSES: u32 = FILTER_BY_PROCESS | FILTER_BY_CGROUP | FILTER_BY_NAME;

/// Flag of a [`Filter`]: connections are recorded where the process is the API server, too. Without it only clients are.
pub const FILTER_SERVER_ENDS: u32 = 4;

/// So many levels of cgroups are looked at from the root on, and besides them the process's own cgroup. That of a container is four to six levels below the
/// root on a node, and as many more where the node itself is one.
pub const CGROUP_LEVELS: i32 = 16;

/// The length of a process's name with its final 0 (`TASK_COMM_LEN` of Linux `include/linux/sched.h`). What is behind the name is 0 too, since the kernel fills
/// it up (`strscpy_pad` in `__set_task_comm`, Linux 6.6).
pub const NAME_LENGTH: usize = 16;

/// proc(5) tells times in hundredths of a second (`USER_HZ`, which is the same for all architectures that are observed).
pub const NANOSECONDS_A_TICK: u64 = 10_000_000;

/// What all programs look at first; the only value of the map `FILTER`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Filter {
    /// Those of [`FILTERS_OF_PROCESSES`], and [`FILTER_SERVER_ENDS`].
    pub flags: u32,
    /// The process that observes, which is never recorded, as its own PID namespace numbers it.
    pub own: u32,
    /// The device of that namespace's file (`/proc/self/ns/pid`).
    pub namespace_device: u64,
    /// The number of that file; 0 where it is the initial one. In another one only its own processes are recorded, by its numbers.
    pub namespace_inode: u64,
}

const _: () = assert!(size_of::<Filter>() == 24, "no padding");
