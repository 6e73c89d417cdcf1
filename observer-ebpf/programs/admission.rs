//! Decides whether the current process is recorded at all; each program asks this first.

use aya_ebpf::helpers::bpf_get_current_pid_tgid;
use observer_ebpf::{
    CGROUP_LEVELS, FILTER_BY_CGROUP, FILTER_BY_NAME, FILTER_BY_PROCESS, FILTERS_OF_PROCESSES, Filter, NAME_LENGTH,
    NANOSECONDS_A_TICK,
};

use crate::kernel::{self, Cgroup, Numbers};
use crate::maps::{CGROUPS, FILTER, NAMES, PROCESSES, SELECTED};

/// The current thread and its process.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    /// Both IDs in the initial PID namespace: the process in the upper half, the thread in the lower.
    pub(crate) both: u64,
    /// PID in watchtap's PID namespace; the same for the thread.
    pub(crate) process: u32,
    pub(crate) thread: u32,
}

impl Caller {
    /// The caller; `None` if it has no PID in watchtap's PID namespace, and so no entry in watchtap's `/proc`.
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
        kernel::numbers_in(filter.namespace_inode).map(|Numbers { process, thread }| Self { both, process, thread })
    }

    /// The caller; `None` if its process is not to be recorded.
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

    /// Forgets whether the process is selected, since it has executed another program or has exited.
    #[inline(always)]
    pub(crate) fn forget() {
        // Most processes have no entry.
        let _unknown = SELECTED.remove((bpf_get_current_pid_tgid() >> 32) as u32);
    }

    /// PID of the process in the initial PID namespace.
    #[inline(always)]
    fn group(&self) -> u32 {
        (self.both >> 32) as u32
    }

    /// Decides whether the process is selected, and keeps the decision: each call of a TLS library needs it.
    #[inline(never)]
    fn is_selected(&self, flags: u32) -> bool {
        let mut name = [0; NAME_LENGTH];
        let started = kernel::process(&mut name);
        let is_selected = (flags & FILTER_BY_PROCESS != 0 && is_process(self.process, started))
            || (flags & FILTER_BY_NAME != 0 && NAMES.get_ptr(&name).is_some())
            || (flags & FILTER_BY_CGROUP != 0 && is_in_cgroup());
        // Without room, the next call decides again.
        let _full = SELECTED.insert(self.group(), u32::from(is_selected), 0);
        is_selected
    }
}

#[inline(always)]
fn is_process(number: u32, started: u64) -> bool {
    // SAFETY: the kernel keeps the value's memory while the program runs.
    PROCESSES.get_ptr(number).is_some_and(|then| unsafe { *then } == started / NANOSECONDS_A_TICK)
}

/// Whether the process is in a selected cgroup or in a descendant of one.
#[inline(always)]
fn is_in_cgroup() -> bool {
    let mut current = Cgroup::current();
    for _ in 0..CGROUP_LEVELS {
        let Some(cgroup) = current else { return false };
        if cgroup.number().is_some_and(|number| CGROUPS.get_ptr(number).is_some()) {
            return true;
        }
        current = cgroup.parent();
    }
    false
}
