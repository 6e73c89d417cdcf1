//! Lists, gets and watches.

mod get;
mod list;
mod page;
#[cfg(test)]
mod tests;
mod watch;

pub(super) use get::get;
pub(super) use list::list;
pub(super) use page::Page;
pub(super) use watch::{Watch, watch};
