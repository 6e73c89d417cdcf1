//! Which processes are recorded.

/// Flag of a [`Filter`]: only the processes in the map `PROCESSES`.
pub const FILTER_BY_PROCESS: u32 = 1;
/// Flag of a [`Filter`]: only processes in one of the cgroups of the map `CGROUPS`, by their own cgroup and not by those above it.
pub const FILTER_BY_CGROUP: u32 = 2;

/// Flag of a [`Filter`]: connections are recorded where the process is the API server, too. Without it only clients are.
pub const FILTER_SERVER_ENDS: u32 = 4;

/// What all programs look at first; the only value of the map `FILTER`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Filter {
    /// [`FILTER_BY_PROCESS`], [`FILTER_BY_CGROUP`]: with both, either is enough, and with neither all processes are recorded;
    /// [`FILTER_SERVER_ENDS`].
    pub flags: u32,
    /// The process that observes, which is never recorded, as its own PID namespace numbers it.
    pub own: u32,
    /// The device of that namespace's file (`/proc/self/ns/pid`).
    pub namespace_device: u64,
    /// The number of that file; 0 where it is the first namespace. In another one only its own processes are recorded, by its numbers.
    pub namespace_inode: u64,
}

const _: () = assert!(size_of::<Filter>() == 24, "no padding");
