//! `decode`: how fast list bodies are read, compared with a full parse of the same bytes.

mod body;
mod command;
mod measuring;
mod report;

pub(crate) use body::ListKind;
pub(crate) use command::{Args, execute};
