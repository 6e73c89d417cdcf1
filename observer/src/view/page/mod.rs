//! The terminal page: snapshots and keys in, pictures out.

mod about;
mod account;
mod amount;
mod binding;
mod canvas;
mod cells;
mod clients;
mod clock;
mod column;
mod command;
mod control;
mod copying;
mod detail;
mod filter;
mod filter_key;
mod filter_parser;
mod findings;
mod footer;
mod grid;
mod header;
mod help;
mod history;
mod key;
mod line;
mod mouse;
mod picture;
mod problems;
mod prompt;
pub(in crate::view) mod raw;
mod reflectors;
mod request_row;
mod requests;
mod row;
mod row_order;
mod scroll;
mod sheet;
mod spots;
mod state;
mod storms;
mod tab;
mod tab_line;
mod widths;

#[cfg(test)]
pub(in crate::view) mod tests;

pub use command::CommandEnd;
pub use key::{Key, NoteFile, Outcome};
pub use mouse::Mouse;
pub use state::Page;
