//! The trait of what a terminal shows: the page of this process's run, or the page of another process.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

use ratatui::buffer::Buffer;

use crate::view::{Key, Mouse, Outcome};

/// The content of the drawing thread, and the receiver of keys. An error ends the page, not the run.
pub(crate) trait Scene: Send + 'static {
    /// Takes what has arrived since the last call. Returns whether the picture has changed.
    fn take_news(&mut self) -> io::Result<bool>;

    /// Draws the picture into an empty buffer of the size of the terminal.
    fn draw(&mut self, buffer: &mut Buffer);

    /// Notes that the last picture is on the terminal.
    fn note_drawn(&mut self) {}

    /// Takes a key.
    fn key(&mut self, key: Key);

    /// Takes an act of the mouse.
    fn mouse(&mut self, mouse: Mouse);

    /// The next action that a key requested, other than a drawing. The action may follow long after its key.
    fn next_outcome(&mut self) -> Option<Outcome>;

    /// Takes the result of [`Outcome::Write`].
    fn note_written(&mut self, written: Result<&Path, &io::Error>);

    /// A descriptor that is readable when there is news; `None` if news is checked for at an interval.
    fn news(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
