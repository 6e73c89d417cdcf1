//! What JSON leaves out: fields that say nothing.

/// Whether nothing was counted.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(crate) const fn is_zero(number: &u64) -> bool {
    *number == 0
}
