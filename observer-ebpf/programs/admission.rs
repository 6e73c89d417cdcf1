//! Whether the process that runs is recorded at all: the first question of each program.

use aya_ebpf::bindings::bpf_pidns_info;
use aya_ebpf::helpers::generated::{bpf_get_current_ancestor_cgroup_id, bpf_get_ns_current_pid_tgid};
use aya_ebpf::helpers::{bpf_get_current_cgroup_id, bpf_get_current_pid_tgid};
use observer_ebpf::{
    CGROUP_LEVELS, FILTER_BY_CGROUP, FILTER_BY_NAME, FILTER_BY_PROCESS, FILTERS_OF_PROCESSES, Filter, NANOSECONDS_A_TICK,
};

use crate::kernel;
use crate::maps::{CGROUPS, FILTER, NAMES, PROCESSES, SELECTED};

/// The thread that runs, and its process.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    /// Both, as the initial PID namespace numbers them: the process above, the thread below.
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
        if filter.flags & FILTERS_OF_PROCESSES == 0 {
            return Some(caller);
        }
        // SAFETY: the kernel keeps the value's memory while the program runs.
        let known = SELECTED.get_ptr(caller.group()).map(|known| unsafe { *known } != 0);
        known.unwrap_or_else(|| caller.is_selected(filter.flags)).then_some(caller)
    }

    /// Its process runs another program from now on, or is over: whether it is selected is asked anew.
    #[inline(always)]
    pub(crate) fn forget() {
        // Most were never asked about.
        let _unknown = SELECTED.remove((bpf_get_current_pid_tgid() >> 32) as u32);
    }

    /// The process, as the initial PID namespace numbers it.
    #[inline(always)]
    fn group(&self) -> u32 {
        (self.both >> 32) as u32
    }

    /// Asks whether the process is selected, and keeps the answer: each call of a TLS library comes by here.
    #[inline(never)]
    fn is_selected(&self, flags: u32) -> bool {
        let (name, started) = kernel::process().unwrap_or_default();
        let is_selected = (flags & FILTER_BY_PROCESS != 0 && is_process(self.process, started))
            || (flags & FILTER_BY_NAME != 0 && NAMES.get_ptr(&name).is_some())
            || (flags & FILTER_BY_CGROUP != 0 && is_in_cgroup());
        // Where there is no room it is asked again.
        let _full = SELECTED.insert(self.group(), u32::from(is_selected), 0);
        is_selected
    }
}

#[inline(always)]
fn is_process(number: u32, started: u64) -> bool {
    // SAFETY: the kernel keeps the value's memory while the program runs.
    PROCESSES.get_ptr(number).is_some_and(|then| unsafe { *then } == started / NANOSECONDS_A_TICK)
}

/// Whether one of the cgroups has the process, or has one that has it.
#[inline(always)]
fn is_in_cgroup() -> bool {
    for level in 0..CGROUP_LEVELS {
        // SAFETY: takes and returns a number.
        let cgroup = unsafe { bpf_get_current_ancestor_cgroup_id(level) };
        if cgroup == 0 {
            return false;
        }
        if CGROUPS.get_ptr(cgroup).is_some() {
            return true;
        }
    }
    // SAFETY: takes nothing and returns a number.
    CGROUPS.get_ptr(unsafe { bpf_get_current_cgroup_id() }).is_some()
}
