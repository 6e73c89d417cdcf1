//! The decision tables, with the rows of docs/semantics.md: §1.3 in `list_eras`, §2.1 in `get`, §2.2 and §2.3 in `watch`, §1.5 in
//! `not_ready`, §1.11 in `validation`.
//!
//! Within a table, rows are tested from top to bottom, and the first match wins.

mod list_eras;
mod outcome;

mod get;
mod list;
mod not_ready;
mod uncached;
mod validation;
mod watch;

mod boundaries;

pub(super) use boundaries::boundaries;
pub(super) use get::decide_get;
pub(super) use list::decide_list;
pub(super) use outcome::Decision;
pub(super) use uncached::decide_uncached;
pub(super) use validation::{decide_refusal, names_conflict};
pub(super) use watch::decide_watch;

#[cfg(test)]
pub(super) use list_eras::LIST_ERAS;
