//! `first-requests`: how many programs that have never run on this machine are seen from their first request.
//!
//! Each program is a copy of a Go program with a build identifier of its own, so the probe must examine it. A watchtap of the release
//! examines programs while the client starts, asks and ends.

mod command;
mod go_client;
mod kubectl;
mod new_program;
mod report;
mod trial;

/// Number of new programs of each kind under a ready probe, of which the budgets name a part.
const PROGRAMS: u32 = 30;

pub(crate) use command::{Args, execute};
