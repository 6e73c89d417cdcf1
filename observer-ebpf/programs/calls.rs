//! Counts the calls of the probed functions of each file.
//!
//! A call is counted before the caller is checked: a process that is not recorded pays for the probe, too.

use aya_ebpf::EbpfContext;
use aya_ebpf::helpers::bpf_get_attach_cookie;
use aya_ebpf::maps::PerCpuArray;
use aya_ebpf::programs::ProbeContext;
use observer_ebpf::AttachCookie;

use crate::atomics;
use crate::maps::{CALLS, FIELD_CALLS};

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
        let _before = unsafe { atomics::fetch_add(calls, 1) };
    }
    cookie
}

/// The attach cookie of the place where the program runs.
#[inline(always)]
pub(crate) fn cookie(context: &ProbeContext) -> AttachCookie {
    // SAFETY: the context is the one from the kernel.
    AttachCookie::from_bits(unsafe { bpf_get_attach_cookie(context.as_ptr()) })
}
