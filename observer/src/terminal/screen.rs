//! The screen of a terminal: lent for a page, and given back as it was.

use std::io::{self, BufWriter, Stdout, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::layout::{Position, Rect};

use super::held::Stderr;
use crate::view::Page;

/// Bytes of a picture that are written at once, so that no half of it is seen: more than a large screen full of colours takes.
const PICTURE: usize = 1 << 18;

/// The screen. While a page has it, what is said on stderr waits; when this is dropped, wherever and why, it is given back.
#[derive(Debug)]
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    is_taken: bool,
}

impl Screen {
    /// The screen of our terminal, not yet taken.
    pub(super) fn new() -> io::Result<Self> {
        let out = BufWriter::with_capacity(PICTURE, io::stdout());
        Ok(Self { terminal: Terminal::new(CrosstermBackend::new(out))?, is_taken: false })
    }

    pub(super) const fn is_taken(&self) -> bool {
        self.is_taken
    }

    /// Takes the screen and the keyboard. What was on the screen comes back when it is given back.
    pub(super) fn take(&mut self) -> io::Result<()> {
        self.is_taken = true;
        Stderr::hold();
        // Of a terminal that was lost, crossterm takes the modes for those that it had set.
        disable_raw_mode()?;
        enable_raw_mode()?;
        execute!(self.terminal.backend_mut(), EnterAlternateScreen, Hide)?;
        self.forget()
    }

    /// Gives both back.
    pub(super) fn give_back(&mut self) -> io::Result<()> {
        if !self.is_taken {
            return Ok(());
        }
        self.is_taken = false;
        let shown = execute!(self.terminal.backend_mut(), LeaveAlternateScreen, Show);
        let cooked = disable_raw_mode();
        Stderr::release();
        shown.and(cooked)
    }

    /// Has nothing to give back any more: the shell has the terminal, and has put it right.
    pub(super) fn lose(&mut self) {
        self.is_taken = false;
        Stderr::release();
    }

    /// Draws what is different from the last picture.
    pub(super) fn draw(&mut self, page: &Page) -> io::Result<()> {
        self.terminal.draw(|frame| page.draw(frame)).map(|_drawn| ())
    }

    /// Clears the screen, so that all of it is drawn next. Unlike [`Terminal::clear`] this asks the terminal nothing: one that does not answer
    /// would hold us up.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// Asks the terminal to put `text` where its person can paste it from (OSC 52). Whether it did, it does not say.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        let out = self.terminal.backend_mut();
        write!(out, "\x1b]52;c;{}\x07", BASE64_STANDARD.encode(text))?;
        Write::flush(out)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Err(error) = self.give_back() {
            tracing::debug!("the terminal could not be given back: {error}");
        }
    }
}
