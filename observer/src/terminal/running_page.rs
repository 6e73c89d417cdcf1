//! The thread that draws a page, and reads its keys and its mouse.
//!
//! It takes the newest picture whenever it is ready. The observing thread never waits for it, and a terminal that blocks writes
//! delays no other thread.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::terminal::disable_raw_mode;
use tokio::sync::oneshot;

use super::modes::{is_ours, wait_for_input};
use super::note_file;
use super::scene::Scene;
use super::screen::Screen;
use super::stops::Stops;
use crate::printable::HeldStderr;
use crate::view::{Key, Mouse, Outcome};

/// Interval at which the thread checks for a new snapshot; a key wakes it at once.
const LOOK: Duration = Duration::from_millis(100);

/// Time limit for restoring the terminal. Without it, this could block forever if the terminal accepts no more bytes.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A page on this process's terminal. It is closed when this is dropped.
#[derive(Debug)]
pub(crate) struct RunningPage {
    closing: Arc<AtomicBool>,
    left: Option<oneshot::Receiver<Left>>,
    given_back: Receiver<()>,
}

/// Why the page has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// The user quit the page.
    Asked,
    /// It failed for this reason; the run continues.
    Failed(String),
}

/// The data of the drawing thread.
struct Drawing<S> {
    scene: S,
    screen: Screen,
    stops: Stops,
    closing: Arc<AtomicBool>,
    /// Whether the page has changed since it was last drawn.
    is_stale: bool,
}

/// The next step of the thread after keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// It continues to read keys.
    Continue,
    /// It stops with its process, before it reads more keys.
    Stop,
    /// It leaves the page.
    Leave,
}

impl RunningPage {
    /// Takes over the terminal, and shows `scene`.
    pub(crate) fn start(scene: impl Scene) -> io::Result<Self> {
        let closing = Arc::new(AtomicBool::new(false));
        let (screen, stops) = (Screen::new()?, Stops::open()?);
        let mut drawing = Drawing { scene, screen, stops, closing: Arc::clone(&closing), is_stale: true };
        let (leaving, left) = oneshot::channel();
        let (giving_back, given_back) = mpsc::channel();
        thread::Builder::new().name("page".to_owned()).spawn(move || {
            let ended = catch_unwind(AssertUnwindSafe(|| drawing.run()));
            drop(drawing);
            let _receiver_gone = leaving.send(match ended {
                Ok(Ok(())) => Left::Asked,
                Ok(Err(error)) => Left::Failed(error.to_string()),
                Err(_panic) => Left::Failed("an internal error; please report it".to_owned()),
            });
            drop(giving_back);
        })?;
        Ok(Self { closing, left: Some(left), given_back })
    }

    /// Waits until the user quits the page, or the page fails. Later calls wait forever.
    pub(crate) async fn left(&mut self) -> Left {
        match &mut self.left {
            Some(left) => {
                let how = left.await.unwrap_or_else(|_gone| Left::Failed("its thread is gone".to_owned()));
                self.left = None;
                how
            }
            None => std::future::pending().await,
        }
    }
}

impl Drop for RunningPage {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        if self.given_back.recv_timeout(TIMEOUT) == Err(mpsc::RecvTimeoutError::Timeout) {
            // A write to the terminal blocks the thread, but this thread can still restore the terminal's modes.
            let _put_right = disable_raw_mode();
            HeldStderr::release();
        }
    }
}

impl<S: Scene> Drawing<S> {
    /// Draws and handles keys until the page is closed.
    fn run(&mut self) -> io::Result<()> {
        while !self.closing.load(Ordering::SeqCst) {
            self.heed_stops()?;
            self.is_stale |= self.scene.take_news()?;
            if self.act()? == Next::Leave {
                return Ok(());
            }
            if self.screen.is_taken() && self.is_stale {
                self.screen.draw(&mut self.scene)?;
                self.scene.note_drawn();
                self.is_stale = false;
            }
            if !self.screen.is_taken() {
                thread::sleep(LOOK);
            } else if self.take_keys()? == Next::Leave {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Restores the terminal before this process stops, and takes it over again when the process is in the foreground.
    fn heed_stops(&mut self) -> io::Result<()> {
        if self.stops.are_asked_for() {
            self.screen.give_back()?;
            Stops::stop()?;
        }
        if self.stops.are_over() {
            // After SIGSTOP, the shell has set its own modes, and this process may now be in the background.
            if is_ours() { self.screen.give_back()? } else { self.screen.lose() }
        }
        if !self.screen.is_taken() && is_ours() {
            self.screen.take()?;
            self.is_stale = true;
        }
        Ok(())
    }

    /// Waits for a key, and handles all that were pressed.
    fn take_keys(&mut self) -> io::Result<Next> {
        let mut is_overlooked = wait_for_input(LOOK, self.scene.news())?;
        while event::poll(Duration::ZERO)? {
            is_overlooked = false;
            self.is_stale = true;
            self.take_event(&event::read()?);
            match self.act()? {
                Next::Continue => {}
                next @ (Next::Stop | Next::Leave) => return Ok(next),
            }
        }
        if is_overlooked {
            // If a key arrives together with a resize, crossterm does not return this key until the next one. The pause avoids a
            // busy loop.
            thread::sleep(LOOK);
        }
        Ok(Next::Continue)
    }

    fn take_event(&mut self, event: &Event) {
        match event {
            Event::Key(pressed) => {
                if let Some(key) = Key::of(pressed) {
                    self.scene.key(key);
                }
            }
            Event::Mouse(moved) => {
                if let Some(mouse) = Mouse::of(moved) {
                    self.scene.mouse(mouse);
                }
            }
            Event::FocusGained | Event::FocusLost | Event::Paste(_) | Event::Resize(..) => {}
        }
    }

    /// Does what keys requested.
    fn act(&mut self) -> io::Result<Next> {
        while let Some(outcome) = self.scene.next_outcome() {
            match outcome {
                Outcome::Stay => {}
                Outcome::Quit => return Ok(Next::Leave),
                Outcome::Copy(text) => self.screen.copy(&text)?,
                Outcome::Write(note) => {
                    let written = note_file::write(Path::new(""), &note);
                    self.scene.note_written(written.as_deref());
                    self.is_stale = true;
                }
                Outcome::Redraw => self.screen.forget()?,
                Outcome::Stop => {
                    Stops::ask()?;
                    return Ok(Next::Stop);
                }
            }
        }
        Ok(Next::Continue)
    }
}
