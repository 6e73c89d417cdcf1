//! Why a message cannot be read any further.

/// A reason to stop decoding a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The bytes are not HTTP/1.1.
    Malformed {
        /// Offset in the direction at which the invalid line or message begins.
        at: u64,
        /// The violation, in words.
        what: &'static str,
    },
    /// The bytes may be HTTP/1.1, but exceed a bound of the decoder.
    Bound,
}
