//! The terminal that a page is on: its modes, its keys, the thread that draws, and text written to stderr meanwhile.

mod held;
mod modes;
mod running_page;
mod screen;
mod stops;

pub(crate) use held::Stderr;
pub(crate) use modes::is_for_a_page;
pub(crate) use running_page::{Left, RunningPage};
