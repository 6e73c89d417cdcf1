//! The signals that end a process unless it handles them (`man 7 signal`, action Term or Core).
//!
//! Four kinds are left out. SIGKILL cannot be handled. SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV and SIGSYS say that the process is broken, so
//! nothing of it should run on. SIGPIPE is ignored by every Rust program. SIGTSTP and its kin stop, and do not end.

use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ};

/// Those of POSIX, whose defaults `signal-hook` knows.
pub(super) const OF_POSIX: [i32; 11] =
    [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ];

/// Those of Linux beside them: SIGIO, SIGPWR and SIGSTKFLT, and the signals for real time that libc leaves to programs.
#[cfg(target_os = "linux")]
pub(super) fn of_this_system() -> impl Iterator<Item = i32> {
    use rustix::process::Signal;

    /// The first that the C library does not use itself.
    const FIRST_OF_REAL_TIME: i32 = if cfg!(target_env = "musl") { 35 } else { 34 };
    const LAST_OF_REAL_TIME: i32 = 64;
    let named = [Signal::IO, Signal::POWER, Signal::STKFLT].map(Signal::as_raw);
    named.into_iter().chain(FIRST_OF_REAL_TIME..=LAST_OF_REAL_TIME)
}

/// No others are known to end a process elsewhere.
#[cfg(not(target_os = "linux"))]
pub(super) fn of_this_system() -> impl Iterator<Item = i32> {
    std::iter::empty()
}
