//! Calls of the functions that are probed, counted for each file.
//!
//! Before anything else is asked, so whoever calls: a process that is not recorded pays for the probe, too.

use aya_ebpf::EbpfContext;
use aya_ebpf::helpers::bpf_get_attach_cookie;
use aya_ebpf::maps::PerCpuArray;
use aya_ebpf::programs::ProbeContext;
use observer_ebpf::AttachCookie;

use crate::atomics;
use crate::maps::{CALLS, FIELD_CALLS};

/// A call that passes plaintext, or ends a connection, begins: counts it, and says where.
#[inline(always)]
pub(crate) fn begun(context: &ProbeContext) -> AttachCookie {
    counted(context, &CALLS)
}

/// A call that has to do with header fields begins. It is counted apart: these can be left alone without the rest.
#[inline(always)]
pub(crate) fn begun_for_fields(context: &ProbeContext) {
    counted(context, &FIELD_CALLS);
}

#[inline(always)]
fn counted(context: &ProbeContext, calls: &PerCpuArray<u64>) -> AttachCookie {
    let cookie = place(context);
    if let Some(calls) = calls.get_ptr_mut(u32::from(cookie.file)) {
        // SAFETY: the kernel gave the address of a value of the map, eight bytes aligned, which lives as long as the map.
        let _before = unsafe { atomics::fetch_add(calls, 1) };
    }
    cookie
}

/// Where the program runs.
#[inline(always)]
pub(crate) fn place(context: &ProbeContext) -> AttachCookie {
    // SAFETY: the context is the one that the kernel gave.
    AttachCookie::from_bits(unsafe { bpf_get_attach_cookie(context.as_ptr()) })
}
