//! The filter by which the programs decide which processes are recorded.

/// Flag of a [`Filter`]: selects the processes in the map `PROCESSES`, by PID.
pub const FILTER_BY_PROCESS: u32 = 1;
/// Flag of a [`Filter`]: selects the processes in a cgroup of the map `CGROUPS` or in a descendant of one, within
/// [`CGROUP_LEVELS`].
pub const FILTER_BY_CGROUP: u32 = 2;
/// Flag of a [`Filter`]: selects the processes with a name in the map `NAMES`.
pub const FILTER_BY_NAME: u32 = 8;

/// The flags that select processes. A process is recorded if any of them selects it, or if none of them is set.
pub const FILTERS_OF_PROCESSES: u32 = FILTER_BY_PROCESS | FILTER_BY_CGROUP | FILTER_BY_NAME;

/// Flag of a [`Filter`]: connections are also recorded at the API server's end. Without it, only clients are.
pub const FILTER_SERVER_ENDS: u32 = 4;

/// Number of levels of cgroups that are compared, from the process's own cgroup up. The cgroup of a container is four to six levels
/// below the root of a node, and further below if the node is a container.
pub const CGROUP_LEVELS: u32 = 16;

/// Number of levels of PID namespaces in which watchtap's own namespace is found, from the initial one down. A pod of a node that is
/// a container is two levels below the initial namespace, or three in a container of its own.
pub const PID_NAMESPACE_LEVELS: u32 = 8;

/// Length of a process name with its final 0 (`TASK_COMM_LEN` of Linux `include/linux/sched.h`). The kernel pads it with 0
/// (`strscpy_pad` in `__set_task_comm`, Linux 6.6).
pub const NAME_LENGTH: usize = 16;

/// Maximum number of addresses of API servers, and number of entries of the map `API_SERVERS`.
pub const MAX_API_SERVERS: u32 = 64;

/// Nanoseconds in a clock tick of proc(5), a hundredth of a second (`USER_HZ`, the same on all supported architectures).
pub const NANOSECONDS_A_TICK: u64 = 10_000_000;

/// The first data that each program reads; the only value of the map `FILTER`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Filter {
    /// Some of [`FILTERS_OF_PROCESSES`] and [`FILTER_SERVER_ENDS`].
    pub flags: u32,
    /// PID of watchtap in its own PID namespace. This process is never recorded.
    pub own: u32,
    /// Inode of the file of watchtap's PID namespace (`/proc/self/ns/pid`); 0 for the initial one. Only processes in the namespace
    /// and in those below it are recorded, by their PIDs in it.
    pub namespace_inode: u64,
}

const _: () = assert!(size_of::<Filter>() == 16, "no padding");
