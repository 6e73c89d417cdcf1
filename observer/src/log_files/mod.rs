//! Reads the files of logs, packed or not, line by line: to their ends, or as they grow.

mod lines;
mod merged;
mod source;

mod ahead;

mod changes;
mod followed;

pub use ahead::AheadError;
pub(crate) use changes::{Caller, Changes};
pub(crate) use followed::{FollowedFiles, NotFollowed};
pub(crate) use lines::Line;
pub use merged::{LogFiles, LogZone, OpenLogs};
pub use source::LogError;
pub(crate) use source::Source;
