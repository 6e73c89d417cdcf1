//! Whether a thread calls OpenSSL: each send and receive of the machine asks.
//!
//! Few threads do. A look-up in the array of their numbers costs much less than one in [`SSL_CALLS`], so it comes first.

use crate::atomics;
use crate::maps::{SSL_CALLS, SSL_THREADS};
use crate::thread_calls::Thread;

/// Number of entries of [`SSL_THREADS`]; a power of two.
pub(crate) const THREAD_COUNTS: u32 = 8_192;

/// Whether a thread (`bpf_get_current_pid_tgid`) may be in [`SSL_CALLS`]. A thread that had to be forgotten there stays counted.
#[inline(always)]
pub(crate) fn may_call(thread: u64) -> bool {
    // SAFETY: the kernel keeps the value's memory while the program runs.
    SSL_THREADS.get_ptr(entry(thread)).is_some_and(|threads| unsafe { *threads } != 0)
}

/// Adds the current thread to [`SSL_CALLS`]. Without room, nothing changes.
#[inline(always)]
pub(crate) fn begin(thread: u64, empty: &Thread) {
    if SSL_CALLS.insert(thread, empty, 0).is_ok() {
        count(thread, 1);
    }
}

/// Removes the current thread from [`SSL_CALLS`], if it is there.
#[inline(always)]
pub(crate) fn end(thread: u64) {
    if may_call(thread) && SSL_CALLS.remove(thread).is_ok() {
        count(thread, u64::MAX);
    }
}

/// Adds to the number of threads; [`u64::MAX`] subtracts one.
#[inline(always)]
fn count(thread: u64, by: u64) {
    if let Some(threads) = SSL_THREADS.get_ptr_mut(entry(thread)) {
        // SAFETY: the kernel gave the address of a value of this map, which is eight bytes aligned and valid as long as the map.
        unsafe { atomics::add(threads, by) };
    }
}

#[inline(always)]
fn entry(thread: u64) -> u32 {
    thread as u32 & (THREAD_COUNTS - 1)
}
