//! Records of klog, with which Kubernetes programs write their logs: as text, and as JSON.

mod clock;
mod fields;
mod json;
mod record;

pub use clock::LogClock;
pub(super) use clock::{Stamp, day_and_month_name, local, zoned};
pub(super) use fields::{Fields, fields};
pub(super) use json::read_json;
pub(super) use record::{KlogRecord, Severity};
