//! The bounded queue from the forwarding threads to the one observing thread.
//!
//! A tap offers time-stamped copies of the bytes that it forwards, and never waits. The observing thread takes them in batches. A
//! full queue drops bytes: first the DATA payload of HTTP/2, then everything in one direction, of which it keeps only the length.
//! If the observing thread stalls, panics or ends, forwarding is not affected.

mod account;
mod event;
mod feed;
mod handover;
mod limits;
mod losses;
mod notice;
mod outbox;
mod pending_process;
mod probe_limits;
mod queue;
mod receiver;
mod waker;

#[cfg(test)]
mod tests;

pub use event::{ConnectionInfo, TapEvent};
pub use feed::ConnectionFeed;
pub use handover::Intake;
pub use limits::IntakeLimits;
pub use losses::IntakeLosses;
pub use notice::Notice;
pub use observer_core::observation::{ConnectionId, EndManner, ListenerState};
pub use pending_process::PendingProcess;
pub use probe_limits::ProbeLimits;
pub use queue::{Delivered, Delivery};
pub use receiver::IntakeReceiver;
pub use waker::Waker;
