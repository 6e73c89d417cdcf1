//! `following`: what it costs to follow ten thousand reflectors, beside a full parse of the same events.

mod command;
mod report;
mod stage;

pub(crate) use command::{Args, execute};
