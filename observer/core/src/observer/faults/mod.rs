//! The faults that a demo cluster played, and what its clients did between each fault and the next one.

mod log;
mod observed;
mod record;
mod response;

pub use record::{FaultRecord, Faults};
pub use response::FaultResponse;

pub(super) use log::FaultLog;
