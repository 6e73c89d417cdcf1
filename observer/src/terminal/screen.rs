//! Takes over the screen of a terminal for a page, and restores it afterwards.

use std::io::{self, BufWriter, Stdout, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::style::Print;
use ratatui::crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::layout::{Position, Rect};

use super::scene::Scene;
use crate::printable::HeldStderr;

/// Buffer size in bytes, larger than a coloured page on a large screen. So each picture is one write, and is never shown in parts.
const PICTURE: usize = 1 << 18;

/// Asks the terminal to report presses and the wheel of the mouse (1000), in decimal numbers of any size (1006). Unlike crossterm's
/// `EnableMouseCapture`, this does not ask for movements, each of which would wake this thread.
const REPORT_MOUSE: &str = "\x1b[?1000h\x1b[?1006h";

/// Ends these reports. A shell does not end them by itself.
const IGNORE_MOUSE: &str = "\x1b[?1006l\x1b[?1000l";

/// The columns and lines of this process's terminal.
pub(crate) fn size() -> io::Result<(u16, u16)> {
    terminal::size()
}

/// The screen. While a page uses it, stderr is held back. Dropping this restores the screen, also after an error or panic.
#[derive(Debug)]
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    is_taken: bool,
}

impl Screen {
    /// The screen of this process's terminal, not taken over yet.
    pub(super) fn new() -> io::Result<Self> {
        let out = BufWriter::with_capacity(PICTURE, io::stdout());
        Ok(Self { terminal: Terminal::new(CrosstermBackend::new(out))?, is_taken: false })
    }

    pub(super) const fn is_taken(&self) -> bool {
        self.is_taken
    }

    /// Takes over the screen, the keyboard and the mouse. The previous contents of the screen return with [`Self::give_back`].
    pub(super) fn take(&mut self) -> io::Result<()> {
        self.is_taken = true;
        HeldStderr::hold();
        // After [`Self::lose`], crossterm still assumes the modes that it had set.
        disable_raw_mode()?;
        enable_raw_mode()?;
        execute!(self.terminal.backend_mut(), EnterAlternateScreen, Hide, Print(REPORT_MOUSE))?;
        self.forget()
    }

    /// Restores the screen, the keyboard and the mouse.
    pub(super) fn give_back(&mut self) -> io::Result<()> {
        if !self.is_taken {
            return Ok(());
        }
        self.is_taken = false;
        let shown = execute!(self.terminal.backend_mut(), Print(IGNORE_MOUSE), LeaveAlternateScreen, Show);
        let cooked = disable_raw_mode();
        HeldStderr::release();
        shown.and(cooked)
    }

    /// Notes that the shell has the terminal and has restored it, so that there is nothing to restore.
    pub(super) fn lose(&mut self) {
        self.is_taken = false;
        HeldStderr::release();
    }

    /// Draws the differences from the previous drawing.
    pub(super) fn draw(&mut self, scene: &mut impl Scene) -> io::Result<()> {
        self.terminal.draw(|frame| scene.draw(frame.buffer_mut())).map(|_drawn| ())
    }

    /// Clears the screen, so that the next drawing is complete. Unlike [`Terminal::clear`], this does not query the terminal: a
    /// terminal that does not answer would block this thread.
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
