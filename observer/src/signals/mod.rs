//! The signals that ask a process of ours to end, or mean its command: who sent them, and which it was told to ignore.

mod ending;
mod ignored;
mod sender;
mod stream;

pub(crate) use ignored::Ignored;
pub(crate) use sender::Sender;
pub(crate) use stream::{Received, SignalStream};
