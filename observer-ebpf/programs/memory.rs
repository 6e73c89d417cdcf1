//! Reads the memory of the current process.

use core::mem::MaybeUninit;

use aya_ebpf::helpers::generated::bpf_probe_read_user;

/// The value at an address; `None` if the address is invalid or its page is not in memory.
#[inline(always)]
pub(crate) fn value<T: Copy>(address: u64) -> Option<T> {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: the helper writes as many bytes as `value` has, or fails.
    let failed = unsafe { bpf_probe_read_user(value.as_mut_ptr().cast(), size_of::<T>() as u32, address as *const _) };
    // SAFETY: the helper has written all bytes, and any bytes are valid for the types in use (numbers and arrays of them).
    (failed == 0).then(|| unsafe { value.assume_init() })
}

/// Copies `length` bytes. If they cannot be read, it writes zeroes and returns false.
///
/// # Safety
///
/// `to` must have room for `length` bytes. The verifier checks it.
#[inline(always)]
pub(crate) unsafe fn copy(to: *mut u8, length: u32, address: u64) -> bool {
    // SAFETY: as the caller promises.
    unsafe { bpf_probe_read_user(to.cast(), length, address as *const _) == 0 }
}
