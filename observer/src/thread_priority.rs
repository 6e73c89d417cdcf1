//! The priority of threads that serve people and programs beside the traffic.

use std::io;

/// About a tenth of the weight of the other threads (sched(7)).
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Lowers the priority of this thread, so that it does not take CPU time from the traffic on a busy machine. In Linux, threads have
/// priorities of their own (setpriority(2), "C library/kernel differences"). Elsewhere, it would be that of the process, so this
/// does nothing.
pub(crate) fn let_others_go_first() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::setpriority_process(None, NICE)?;
    Ok(())
}
