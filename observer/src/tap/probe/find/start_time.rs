//! Start times of processes, in clock ticks since boot as in proc(5).

use procfs::process::Process;
use rustix::time::{ClockId, clock_gettime};

/// When a process was started; `None` if it is gone.
pub(in crate::tap::probe) fn started(process: u32) -> Option<u64> {
    Some(Process::new(i32::try_from(process).ok()?).ok()?.stat().ok()?.starttime)
}

/// The time now, to compare with [`started`].
pub(in crate::tap::probe) fn ticks_now() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    let ticks = procfs::ticks_per_second();
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(ticks).saturating_add(rest.saturating_mul(ticks) / 1_000_000_000)
}
