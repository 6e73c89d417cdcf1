//! Atomic addition. `core` has none for this target, because the first version of the BPF instruction set has no compare-and-swap.

use core::arch::asm;

/// Adds `by`.
///
/// # Safety
///
/// `number` must point into a value of a map, at a multiple of eight. The verifier checks it.
#[inline(always)]
pub(crate) unsafe fn add(number: *mut u64, by: u64) {
    // SAFETY: as the caller promises; one instruction (BPF_ATOMIC, BPF_ADD: RFC 9669 §5.3; BPF_XADD of any Linux).
    unsafe { asm!("lock *(u64 *)({number} + 0) += {by}", number = in(reg) number, by = in(reg) by, options(nostack)) };
}

/// Adds `by`, and returns the value before.
///
/// The second instruction needs Linux 5.12. For an earlier kernel, user space replaces both when it loads the programs
/// (`kernel/instructions.rs` of observer): by a read, and an addition that returns nothing. There, two threads that add at the same
/// time may both return the same value.
///
/// # Safety
///
/// As for [`add`].
#[inline(always)]
pub(crate) unsafe fn fetch_add(number: *mut u64, by: u64) -> u64 {
    let value: u64;
    // SAFETY: as the caller promises (BPF_ATOMIC, BPF_ADD | BPF_FETCH: RFC 9669 §5.3).
    unsafe {
        asm!(
            "{value} = {by}",
            "{value} = atomic_fetch_add((u64 *)({number} + 0), {value})",
            value = out(reg) value, by = in(reg) by, number = in(reg) number, options(nostack)
        );
    }
    value
}
