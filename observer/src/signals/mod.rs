//! Receives the signals that request shutdown or are meant for the command, and determines their senders.

mod ending;
mod ignored;
mod interrupt;
mod sender;
mod stream;

pub(crate) use ignored::Ignored;
pub(crate) use interrupt::Interrupt;
pub(crate) use sender::Sender;
pub(crate) use stream::{Received, SignalStream};
