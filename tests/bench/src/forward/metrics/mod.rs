//! `metrics`: whether readers of watchtap's metrics, friendly or hostile, and collectors change how it forwards; and the size and time of
//! a scrape with many clients.
//!
//! All readers are in this process, so they take CPU time from the client. The case `Elsewhere` shows how much.

mod background;
mod case;
mod collector;
mod command;
mod page;
mod report;
mod visitors;

pub(crate) use command::{Args, execute};
