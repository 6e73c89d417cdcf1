//! `logs`: how fast `watchtap read` reads, joins and analyses audit logs, compared with a parse of each event, and with jq.

mod command;
mod events;
mod report;
mod way;

pub(crate) use command::{Args, execute};
