//! Reads the files of logs, packed or not, line by line.

mod lines;
mod merged;
mod source;

pub(crate) use lines::Line;
pub use merged::{LogFiles, LogZone};
pub use source::LogError;
pub(crate) use source::Source;
