//! `following`: the cost of following ten thousand reflectors, compared with a full parse of the same events.

mod command;
mod report;

pub(crate) use command::{Args, execute};
