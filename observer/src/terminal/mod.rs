//! Shows a page on the terminal: terminal modes, keys, and the thread that draws.

mod modes;
mod note_file;
mod own_page;
mod running_page;
mod scene;
mod screen;
mod stops;

pub(crate) use modes::is_for_a_page;
pub(crate) use own_page::{CommandEndSender, OwnPage};
pub(crate) use running_page::{Left, RunningPage};
pub(crate) use scene::Scene;
pub(crate) use screen::size;
