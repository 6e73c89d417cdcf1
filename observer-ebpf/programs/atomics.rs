//! Atomic addition. `core` has none for this target, because the first version of the BPF instruction set has no compare-and-swap.

use core::arch::asm;

/// Adds `by`, and returns the value before.
///
/// # Safety
///
/// `number` must point into a value of a map, at a multiple of eight. The verifier checks it.
#[inline(always)]
pub(crate) unsafe fn fetch_add(number: *mut u64, by: u64) -> u64 {
    let mut value = by;
    // SAFETY: as the caller promises; one instruction (BPF_ATOMIC, BPF_ADD | BPF_FETCH: RFC 9669 §5.3).
    unsafe {
        asm!("{value} = atomic_fetch_add((u64 *)({number} + 0), {value})", value = inout(reg) value, number = in(reg) number, options(nostack));
    }
    value
}
