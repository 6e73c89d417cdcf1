//! Reads the files of logs, packed or not, and the standard input, line by line.

mod lines;
mod merged;
mod source;

pub use merged::LogFiles;
pub use source::LogError;
