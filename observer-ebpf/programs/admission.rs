//! Whether the process that runs is recorded at all: the first question of each program.

use aya_ebpf::helpers::{bpf_get_current_cgroup_id, bpf_get_current_pid_tgid};
use observer_ebpf::{FILTER_BY_CGROUP, FILTER_BY_PROCESS};

use crate::maps::{CGROUPS, FILTER, PROCESSES};

/// The thread that runs, and its process.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    /// Both, as the kernel gives them: the process above, the thread below.
    pub(crate) both: u64,
    pub(crate) process: u32,
    pub(crate) thread: u32,
}

impl Caller {
    #[inline(always)]
    pub(crate) fn current() -> Self {
        let both = bpf_get_current_pid_tgid();
        Self { both, process: (both >> 32) as u32, thread: both as u32 }
    }

    /// The caller, unless its process is not to be recorded.
    #[inline(always)]
    pub(crate) fn admitted() -> Option<Self> {
        let caller = Self::current();
        let filter = FILTER.get(0)?;
        if caller.process == filter.own {
            return None;
        }
        if filter.flags == 0 {
            return Some(caller);
        }
        if filter.flags & FILTER_BY_PROCESS != 0 && PROCESSES.get_ptr(caller.process).is_some() {
            return Some(caller);
        }
        if filter.flags & FILTER_BY_CGROUP != 0 {
            // SAFETY: takes nothing and returns a number.
            let cgroup = unsafe { bpf_get_current_cgroup_id() };
            return CGROUPS.get_ptr(cgroup).map(|_| caller);
        }
        None
    }
}
