//! Reads the files of logs, packed or not, line by line: to their ends, or as they grow.

mod lines;
mod merged;
mod reached;
mod source;

mod ahead;

mod changes;
mod followed;
mod followed_files;

pub use ahead::AheadError;
pub(crate) use changes::{Caller, Changes};
pub(crate) use followed::NotFollowed;
pub(crate) use followed_files::FollowedFiles;
pub(crate) use lines::Line;
pub use merged::{LogFiles, LogZone, OpenLogs};
pub use source::LogError;
pub(crate) use source::Source;
