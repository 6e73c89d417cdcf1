//! The signals that request the end of a process of ours, or are meant for its command: their senders, and those ignored from the
//! start.

mod ending;
mod ignored;
mod sender;
mod stream;

pub(crate) use ignored::Ignored;
pub(crate) use sender::Sender;
pub(crate) use stream::{Received, SignalStream};
