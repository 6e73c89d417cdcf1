//! The page of another process on this terminal: shows its pictures, and sends it the keys.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::link::{Link, LinkError, instead};
use super::note_permit::NotePermit;
use super::picture::Size;
use super::protocol::{Answer, Input, Request, Terminal};
use super::zone;
use crate::error_chain;
use crate::terminal::{Scene, size};
use crate::view::{Colour, Key, Mouse, Outcome};

/// Maximum number of messages that are taken before keys are read again.
const MOST_AT_ONCE: usize = 64;

/// Maximum length of the path in the answer to a note, in bytes.
const LONGEST_PATH: usize = 1024;

/// A page whose pictures are made in another process.
#[derive(Debug)]
pub(crate) struct AttachedPage {
    link: Link,
    colour: Colour,
    /// The last picture.
    picture: Buffer,
    /// The size that the run knows.
    size: Size,
    /// Whether the run waits for the drawing of its picture.
    is_drawing_owed: bool,
    permit: NotePermit,
    outcomes: VecDeque<Outcome>,
    farewell: Arc<OnceLock<Farewell>>,
}

/// How the run ended the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Farewell {
    /// The run has ended.
    RunEnded,
    /// It cannot continue the page, for this reason.
    Refused(String),
}

impl AttachedPage {
    /// Requests the page, and waits for the first answer within `limit`. The second value is set if the run ends the page.
    pub(crate) fn open(
        mut link: Link,
        colour: Colour,
        zone: Option<&TimeZone>,
        limit: Option<Duration>,
    ) -> Result<(Self, Arc<OnceLock<Farewell>>), LinkError> {
        let (columns, lines) = size()?;
        let size = Size { columns, lines };
        let zone = zone.and_then(|zone| zone::to_text(zone, Timestamp::now()));
        link.ask(&Request::Page(Terminal { size, coloured: colour == Colour::On, zone }), limit)?;
        let page = Self::requested(link, colour, size);
        let farewell = Arc::clone(&page.farewell);
        Ok((page, farewell))
    }

    /// A page whose run has been asked for it.
    pub(super) fn requested(link: Link, colour: Colour, size: Size) -> Self {
        Self {
            link,
            colour,
            picture: Buffer::default(),
            size,
            is_drawing_owed: false,
            permit: NotePermit::default(),
            outcomes: VecDeque::new(),
            farewell: Arc::default(),
        }
    }

    /// Takes a message. Returns whether it changed the picture.
    fn take(&mut self, answer: Answer) -> Result<bool, LinkError> {
        match answer {
            Answer::Picture(picture) => {
                picture.apply(&mut self.picture, self.colour).map_err(|error| io::Error::other(error.to_string()))?;
                self.is_drawing_owed = true;
                return Ok(true);
            }
            Answer::Copy(text) => self.outcomes.extend(self.permit.copy(&text).map(Outcome::Copy)),
            Answer::Note { stem, text } => self.outcomes.extend(self.permit.write(stem, &text).map(Outcome::Write)),
            Answer::Left => self.outcomes.push_back(Outcome::Quit),
            Answer::Ended => self.leave(Farewell::RunEnded),
            Answer::Refused(why) => self.leave(Farewell::Refused(why)),
            other @ (Answer::About(_) | Answer::Part(_) | Answer::Complete) => return Err(instead(other)),
        }
        Ok(false)
    }

    fn leave(&mut self, how: Farewell) {
        // The first one is the reason.
        let _known = self.farewell.set(how);
        self.outcomes.push_back(Outcome::Quit);
    }
}

impl Scene for AttachedPage {
    fn take_news(&mut self) -> io::Result<bool> {
        let mut is_changed = false;
        for _ in 0..MOST_AT_ONCE {
            let taken = self.link.next().and_then(|answer| answer.map(|answer| self.take(answer)).transpose());
            match taken {
                Ok(Some(changed)) => is_changed |= changed,
                Ok(None) => break,
                // What arrived before the end counts, such as a farewell.
                Err(LinkError::Gone) if !self.outcomes.is_empty() => break,
                Err(error) => return Err(io::Error::other(error_chain::in_words(&error))),
            }
        }
        Ok(is_changed)
    }

    fn draw(&mut self, buffer: &mut Buffer) {
        let Rect { width, height, .. } = buffer.area;
        let size = Size { columns: width, lines: height };
        if size != self.size {
            self.size = size;
            self.link.send(&Input::Resized(size));
        }
        for position in buffer.area.intersection(self.picture.area).positions() {
            if let (Some(cell), Some(shown)) = (buffer.cell_mut(position), self.picture.cell(position)) {
                cell.clone_from(shown);
            }
        }
    }

    fn note_drawn(&mut self) {
        if std::mem::take(&mut self.is_drawing_owed) {
            self.link.send(&Input::Drawn);
        }
    }

    fn key(&mut self, key: Key) {
        self.permit = NotePermit::of(key);
        match key {
            // These work even if the run does not answer.
            Key::Interrupt => self.outcomes.push_back(Outcome::Quit),
            Key::Stop => self.outcomes.push_back(Outcome::Stop),
            Key::Redraw => self.outcomes.push_back(Outcome::Redraw),
            Key::Char(_)
            | Key::Enter
            | Key::Escape
            | Key::Backspace
            | Key::Tab
            | Key::BackTab
            | Key::Up
            | Key::Down
            | Key::PageUp
            | Key::PageDown
            | Key::Home
            | Key::End => self.link.send(&Input::Key(key)),
        }
    }

    fn mouse(&mut self, mouse: Mouse) {
        self.link.send(&Input::Mouse(mouse));
    }

    fn next_outcome(&mut self) -> Option<Outcome> {
        self.outcomes.pop_front()
    }

    fn note_written(&mut self, written: Result<&Path, &io::Error>) {
        let short = |text: String| text.get(..text.floor_char_boundary(LONGEST_PATH)).unwrap_or_default().to_owned();
        let written = written.map(|path| short(path.display().to_string())).map_err(|error| short(error.to_string()));
        self.link.send(&Input::Noted(written));
    }

    fn news(&self) -> Option<BorrowedFd<'_>> {
        Some(self.link.readable())
    }
}
