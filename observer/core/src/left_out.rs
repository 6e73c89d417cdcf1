//! Decides which fields JSON output leaves out, because they contain no information.

/// Whether a counter is zero, for `skip_serializing_if`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(crate) const fn is_zero(number: &u64) -> bool {
    *number == 0
}
