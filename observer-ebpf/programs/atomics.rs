//! Addition that nothing interrupts. `core` has none for this target, because the kernel's machine has no compare-and-swap in its first version.

use core::arch::asm;

/// Adds, and returns what was there before.
///
/// # Safety
///
/// `number` points into a value of a map, on a multiple of eight. The verifier checks it.
#[inline(always)]
pub(crate) unsafe fn fetch_add(number: *mut u64, by: u64) -> u64 {
    let mut value = by;
    // SAFETY: as the caller promises; one instruction (BPF_ATOMIC, BPF_ADD | BPF_FETCH: RFC 9669 §5.3).
    unsafe {
        asm!("{value} = atomic_fetch_add((u64 *)({number} + 0), {value})", value = inout(reg) value, number = in(reg) number, options(nostack));
    }
    value
}
