//! The bounded way from the forwarding threads to the one observing thread.
//!
//! A tap offers stamped copies of what it forwards and never waits; the observing thread takes them in batches. What does not fit is
//! dropped by choice, not by accident: DATA payload of HTTP/2 first, then whole stretches whose length is still told. Whatever the
//! observing thread does (stall, panic, be gone), forwarding does not notice.

mod account;
mod event;
mod feed;
mod handover;
mod limits;
mod losses;
mod notice;
mod outbox;
mod pending_process;
mod upstream_error;

#[cfg(test)]
mod tests;

pub use event::{ConnectionId, ConnectionInfo, EndManner, TapEvent};
pub use feed::ConnectionFeed;
pub use handover::{Delivered, Delivery, Intake, IntakeReceiver};
pub use limits::IntakeLimits;
pub use losses::IntakeLosses;
pub use notice::{ListenerState, Notice};
pub use pending_process::PendingProcess;
pub use upstream_error::{ForwardProxyFault, UpstreamError};
