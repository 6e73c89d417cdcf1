//! The page of one attached terminal, in the process of the run: keys in, pictures out.
//!
//! The terminal asks for each picture by reporting that the last one is drawn. So at most one picture is under way, a slow terminal
//! gets the newest one, and a stopped terminal costs nothing.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use anstream::adapter::strip_str;
use observer_core::observer::Snapshot;
use ratatui::buffer::Buffer;

use super::picture::{Picture, Size};
use super::protocol::{Answer, Input};
use crate::injected_fault::{self, Component};
use crate::view::{NoteFile, Outcome, Page};

/// A page, and what its terminal shows.
#[derive(Debug)]
pub(super) struct ServedPage {
    page: Page,
    /// The last picture that was sent.
    shown: Buffer,
    size: Size,
    largest: Size,
    /// Whether the page has changed since the last picture.
    is_stale: bool,
    /// Whether the terminal shows the last picture.
    is_drawn: bool,
}

/// The page panicked. It may be in any state, so it is not shown any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Panicked;

impl ServedPage {
    /// A page for a terminal of this size, which shows nothing. Its pictures have the size `largest` at most.
    pub(super) fn new(page: Page, size: Size, largest: Size) -> Self {
        Self { page, shown: Buffer::default(), size: size.within(largest), largest, is_stale: true, is_drawn: true }
    }

    /// Whether the terminal waits for the next picture.
    pub(super) const fn is_drawn(&self) -> bool {
        self.is_drawn
    }

    pub(super) fn show(&mut self, snapshot: Arc<Snapshot>) -> Result<(), Panicked> {
        self.change(|page| page.show(snapshot))
    }

    /// Makes the next picture due, also if nothing has changed.
    pub(super) const fn refresh(&mut self) {
        self.is_stale = true;
    }

    /// Takes a line that watchtap prints.
    pub(super) fn hear(&mut self, line: &str) -> Result<(), Panicked> {
        self.change(|page| page.hear(&strip_str(line).to_string()))
    }

    /// Takes a message of the terminal. Returns what the terminal has to do about it.
    pub(super) fn input(&mut self, input: Input) -> Result<Option<Answer>, Panicked> {
        let outcome = match input {
            Input::Key(key) => self.change(|page| page.key(key))?,
            Input::Mouse(mouse) => {
                self.change(|page| page.mouse(mouse))?;
                Outcome::Stay
            }
            Input::Resized(size) => {
                self.size = size.within(self.largest);
                self.is_stale = true;
                Outcome::Stay
            }
            Input::Drawn => {
                self.is_drawn = true;
                Outcome::Stay
            }
            Input::Noted(written) => {
                let written = written.map_err(io::Error::other);
                self.change(|page| page.note_written(written.as_ref().map(Path::new)))?;
                Outcome::Stay
            }
        };
        Ok(match outcome {
            // The terminal redraws and stops by itself.
            Outcome::Stay | Outcome::Redraw | Outcome::Stop => None,
            Outcome::Quit => Some(Answer::Left),
            Outcome::Copy(text) => Some(Answer::Copy(text)),
            Outcome::Write(NoteFile { stem, text }) => Some(Answer::Note { stem, text: text.into_string() }),
        })
    }

    /// The next picture, if the page has changed and the terminal waits for one.
    pub(super) fn picture(&mut self) -> Result<Option<Picture>, Panicked> {
        if !self.is_stale || !self.is_drawn {
            return Ok(None);
        }
        let area = self.size.area();
        let next = self.change(|page| {
            injected_fault::inject(Component::Page, page);
            let mut next = Buffer::empty(area);
            page.draw(&mut next);
            next
        })?;
        let picture = Picture::between(&self.shown, &next);
        self.shown = next;
        (self.is_stale, self.is_drawn) = (false, false);
        Ok(Some(picture))
    }

    fn change<T>(&mut self, change: impl FnOnce(&mut Page) -> T) -> Result<T, Panicked> {
        self.is_stale = true;
        let page = &mut self.page;
        catch_unwind(AssertUnwindSafe(|| change(page))).map_err(|_panic| Panicked)
    }
}
