//! Lists the signals that end a process unless it handles them (`man 7 signal`, action Term or Core).
//!
//! Four kinds are left out. SIGKILL cannot be handled. SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV and SIGSYS mean that the
//! process has a fault, so it must not continue. Every Rust program ignores SIGPIPE. SIGTSTP and related signals stop a process but
//! do not end it.

use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ};

/// The POSIX signals. `signal-hook` knows their default actions.
pub(super) const OF_POSIX: [i32; 11] =
    [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ];

/// Further signals of Linux: SIGIO, SIGPWR and SIGSTKFLT, and the real-time signals that libc leaves to programs.
#[cfg(target_os = "linux")]
pub(super) fn of_this_system() -> impl Iterator<Item = i32> {
    use rustix::process::Signal;

    /// The first real-time signal that the C library does not use itself.
    const FIRST_OF_REAL_TIME: i32 = if cfg!(target_env = "musl") { 35 } else { 34 };
    const LAST_OF_REAL_TIME: i32 = 64;
    let named = [Signal::IO, Signal::POWER, Signal::STKFLT].map(Signal::as_raw);
    named.into_iter().chain(FIRST_OF_REAL_TIME..=LAST_OF_REAL_TIME)
}

/// On other systems, the list has only the POSIX signals.
#[cfg(not(target_os = "linux"))]
pub(super) fn of_this_system() -> impl Iterator<Item = i32> {
    std::iter::empty()
}
