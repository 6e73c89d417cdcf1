//! Whether the process that runs is recorded at all: the first question of each program.

use aya_ebpf::bindings::bpf_pidns_info;
use aya_ebpf::helpers::generated::bpf_get_ns_current_pid_tgid;
use aya_ebpf::helpers::{bpf_get_current_cgroup_id, bpf_get_current_pid_tgid};
use observer_ebpf::{FILTER_BY_CGROUP, FILTER_BY_PROCESS, Filter};

use crate::maps::{CGROUPS, FILTER, PROCESSES};

/// The thread that runs, and its process.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    /// Both, as the first PID namespace numbers them: the process above, the thread below.
    pub(crate) both: u64,
    /// As the namespace of who observes numbers them, here and below.
    pub(crate) process: u32,
    pub(crate) thread: u32,
}

impl Caller {
    /// The caller, unless it is in another namespace than who observes: then `/proc` there does not know it by any number of ours.
    #[inline(always)]
    pub(crate) fn current() -> Option<Self> {
        Self::seen_by(FILTER.get(0)?)
    }

    #[inline(always)]
    fn seen_by(filter: &Filter) -> Option<Self> {
        let both = bpf_get_current_pid_tgid();
        if filter.namespace_inode == 0 {
            return Some(Self { both, process: (both >> 32) as u32, thread: both as u32 });
        }
        let mut numbers = bpf_pidns_info { pid: 0, tgid: 0 };
        // SAFETY: the structure is writable, and has the size that is given.
        let result = unsafe {
            bpf_get_ns_current_pid_tgid(
                filter.namespace_device,
                filter.namespace_inode,
                &raw mut numbers,
                size_of::<bpf_pidns_info>() as u32,
            )
        };
        (result == 0).then_some(Self { both, process: numbers.tgid, thread: numbers.pid })
    }

    /// The caller, unless its process is not to be recorded.
    #[inline(always)]
    pub(crate) fn admitted() -> Option<Self> {
        let filter = FILTER.get(0)?;
        let caller = Self::seen_by(filter)?;
        if caller.process == filter.own {
            return None;
        }
        if filter.flags & (FILTER_BY_PROCESS | FILTER_BY_CGROUP) == 0 {
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
