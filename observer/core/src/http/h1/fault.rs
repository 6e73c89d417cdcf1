//! Why a message cannot be read on.

/// What stops a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The bytes are not HTTP/1.1.
    Malformed {
        /// Offset in the direction where the offending line or message begins.
        at: u64,
        /// What is wrong, in words.
        what: &'static str,
    },
    /// They may be, but are longer than what is looked at.
    Bound,
}
