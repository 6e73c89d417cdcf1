//! Calls of the functions that are probed, counted for each file.
//!
//! Before anything else is asked, so whoever calls: a process that is not recorded pays for the probe, too.

use aya_ebpf::EbpfContext;
use aya_ebpf::helpers::bpf_get_attach_cookie;
use aya_ebpf::programs::ProbeContext;
use observer_ebpf::AttachCookie;

use crate::atomics;
use crate::maps::CALLS;

/// A call begins: counts it, and says where.
#[inline(always)]
pub(crate) fn begun(context: &ProbeContext) -> AttachCookie {
    let cookie = place(context);
    if let Some(calls) = CALLS.get_ptr_mut(u32::from(cookie.file)) {
        // SAFETY: the kernel gave the address of a value of this map, eight bytes aligned, which lives as long as the map.
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
