//! The terminal that a page is on: its modes, its keys, and the thread that draws.

mod modes;
mod running_page;
mod screen;
mod stops;

pub(crate) use modes::is_for_a_page;
pub(crate) use running_page::{Left, RunningPage};
