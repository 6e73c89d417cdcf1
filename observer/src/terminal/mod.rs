//! Shows a page on the terminal: terminal modes, keys, and the thread that draws.

mod modes;
mod note_file;
mod running_page;
mod screen;
mod stops;

pub(crate) use modes::is_for_a_page;
pub(crate) use running_page::{Left, RunningPage};
