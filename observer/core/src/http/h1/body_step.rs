//! The outcome of reading a body for one step.

use super::fault::Fault;
use crate::redacted::Redacted;

/// The next part of a body.
#[derive(Debug)]
pub(super) enum BodyStep<'a> {
    /// Content; never empty.
    Data(Redacted<&'a [u8]>),
    /// The message is complete.
    Done,
    /// More bytes are needed.
    Wait,
    /// The framing is broken.
    Fault(Fault),
}
