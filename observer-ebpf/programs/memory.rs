//! The memory of the process that runs.

use core::mem::MaybeUninit;

use aya_ebpf::helpers::generated::bpf_probe_read_user;

/// The value at an address, unless the address is none of the process or its page is not in memory.
#[inline(always)]
pub(crate) fn value<T: Copy>(address: u64) -> Option<T> {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: the helper writes as many bytes as `value` has, or fails.
    let failed = unsafe { bpf_probe_read_user(value.as_mut_ptr().cast(), size_of::<T>() as u32, address as *const _) };
    // SAFETY: the helper has written all bytes, and each of the types that are asked for (numbers, arrays of them) takes any.
    (failed == 0).then(|| unsafe { value.assume_init() })
}

/// Copies `length` bytes; false where they cannot be read, and then zeroes are there.
///
/// # Safety
///
/// `to` has room for `length` bytes. The verifier checks it.
#[inline(always)]
pub(crate) unsafe fn copy(to: *mut u8, length: u32, address: u64) -> bool {
    // SAFETY: as the caller promises.
    unsafe { bpf_probe_read_user(to.cast(), length, address as *const _) == 0 }
}
