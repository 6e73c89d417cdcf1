//! Counts the calls of the probed functions of each file.
//!
//! A call is counted before the caller is checked: a process that is not recorded pays for the probe, too.

use core::arch::asm;

use aya_ebpf::EbpfContext;
use aya_ebpf::helpers::bpf_get_attach_cookie;
use aya_ebpf::maps::PerCpuArray;
use aya_ebpf::programs::ProbeContext;
use observer_ebpf::{AttachCookie, COOKIE_MARK};

use crate::atomics;
use crate::maps::{CALLS, FIELD_CALLS};
use crate::thread_stack;

/// Counts the start of a call that passes plaintext or ends a connection; returns the attach cookie.
#[inline(always)]
pub(crate) fn begun(context: &ProbeContext) -> AttachCookie {
    counted(context, &CALLS)
}

/// Counts the start of a call that concerns header fields. These calls have counters of their own, since their probes can be
/// detached alone.
#[inline(always)]
pub(crate) fn begun_for_fields(context: &ProbeContext) {
    counted(context, &FIELD_CALLS);
}

#[inline(always)]
fn counted(context: &ProbeContext, calls: &PerCpuArray<u64>) -> AttachCookie {
    let cookie = cookie(context);
    if let Some(calls) = calls.get_ptr_mut(u32::from(cookie.file)) {
        // SAFETY: the kernel gave the address of a value of the map, which is eight bytes aligned and valid as long as the map.
        unsafe { atomics::add(calls, 1) };
    }
    cookie
}

/// The attach cookie of the place where the program runs.
///
/// Before Linux 5.15 a place has no cookie. There, user space loads a copy of the program for each file, with the cookie as a
/// constant: it replaces the two instructions here (`kernel/instructions.rs` of observer). The verifier then never reaches the call
/// of a helper that the kernel lacks.
#[inline(always)]
pub(crate) fn cookie(context: &ProbeContext) -> AttachCookie {
    thread_stack::keep(context);
    let (cookie, is_constant): (u64, u64);
    // SAFETY: both instructions only load constants.
    unsafe {
        asm!("{cookie} = {mark} ll", "{is_constant} = 0", cookie = out(reg) cookie, is_constant = out(reg) is_constant, mark = const COOKIE_MARK,
            options(nomem, nostack, preserves_flags));
    }
    if is_constant != 0 {
        return AttachCookie::from_bits(cookie);
    }
    // SAFETY: the context is the one from the kernel.
    AttachCookie::from_bits(unsafe { bpf_get_attach_cookie(context.as_ptr()) })
}
