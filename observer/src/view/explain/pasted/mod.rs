//! The explanation of lines of logs, each of which may be of another program and version.

mod content;

mod etcd_line;
mod reflector_line;
mod requests;
mod server_line;

mod line;

pub use line::{ExplainedLine, ExplainedLines, known_forms};
