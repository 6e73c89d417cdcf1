//! Which processes are recorded.

/// Flag of a [`Filter`]: only the processes in the map `PROCESSES`.
pub const FILTER_BY_PROCESS: u32 = 1;
/// Flag of a [`Filter`]: only processes in one of the cgroups of the map `CGROUPS`, by their own cgroup and not by those above it.
pub const FILTER_BY_CGROUP: u32 = 2;

/// What all programs look at first; the only value of the map `FILTER`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Filter {
    /// [`FILTER_BY_PROCESS`], [`FILTER_BY_CGROUP`]; with both, either is enough. 0: all processes.
    pub flags: u32,
    /// The process that observes, which is never recorded.
    pub own: u32,
}
