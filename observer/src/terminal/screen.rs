//! The screen of a terminal: taken for a page, and given back as it was.

use std::io::{self, BufWriter, Stdout, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::layout::{Position, Rect};

use crate::printable::HeldStderr;
use crate::view::Page;

/// Bytes of a picture that are written at once, so that it never appears in halves. A large screen full of colours takes less.
const PICTURE: usize = 1 << 18;

/// The screen. While a page has it, stderr is held back. Dropping it gives the screen back, on every path.
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

    /// Takes the screen and the keyboard. The former picture returns when the screen is given back.
    pub(super) fn take(&mut self) -> io::Result<()> {
        self.is_taken = true;
        HeldStderr::hold();
        // If the terminal was lost, crossterm still assumes the modes that it had set.
        disable_raw_mode()?;
        enable_raw_mode()?;
        execute!(self.terminal.backend_mut(), EnterAlternateScreen, Hide)?;
        self.forget()
    }

    /// Gives the screen and the keyboard back.
    pub(super) fn give_back(&mut self) -> io::Result<()> {
        if !self.is_taken {
            return Ok(());
        }
        self.is_taken = false;
        let shown = execute!(self.terminal.backend_mut(), LeaveAlternateScreen, Show);
        let cooked = disable_raw_mode();
        HeldStderr::release();
        shown.and(cooked)
    }

    /// Leaves nothing to give back: the shell has the terminal, and has restored it.
    pub(super) fn lose(&mut self) {
        self.is_taken = false;
        HeldStderr::release();
    }

    /// Draws the differences from the last picture.
    pub(super) fn draw(&mut self, page: &Page) -> io::Result<()> {
        self.terminal.draw(|frame| page.draw(frame)).map(|_drawn| ())
    }

    /// Clears the screen, so that all of it is drawn next. Unlike [`Terminal::clear`], this asks the terminal nothing: one that
    /// does not answer would block us.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// Asks the terminal to copy `text` to its user's clipboard (OSC 52). The terminal does not report whether it did.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        let out = self.terminal.backend_mut();
        write!(out, "\x1b]52;c;{}\x07", BASE64_STANDARD.encode(text))?;
        Write::flush(out)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Err(error) = self.give_back() {
            tracing::debug!("the terminal could not be restored: {error}");
        }
    }
}
