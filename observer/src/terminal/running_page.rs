//! The thread that draws a page and reads its keys.
//!
//! It takes the newest snapshot at its own pace. Whoever observes never waits for it, and a terminal that takes no more bytes holds up nobody
//! else.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use anstream::adapter::strip_str;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::terminal::disable_raw_mode;
use tokio::sync::oneshot;

use super::held::Stderr;
use super::modes::{is_ours, wait_for_input};
use super::screen::Screen;
use super::stops::Stops;
use crate::injected_fault::{self, Place};
use crate::observing::Latest;
use crate::view::{Key, Outcome, Page};

/// How often the thread looks for a newer snapshot; a key wakes it at once.
const LOOK: Duration = Duration::from_millis(100);

/// How long a terminal may take to be given back. One whose other side has stopped reading never does.
const PATIENCE: Duration = Duration::from_secs(1);

/// A page on our terminal, until it is dropped.
#[derive(Debug)]
pub(crate) struct RunningPage {
    closing: Arc<AtomicBool>,
    left: Option<oneshot::Receiver<Left>>,
    given_back: Receiver<()>,
}

/// Why there is no page any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// The person asked for the end.
    Asked,
    /// It failed for this reason; what it was about goes on.
    Failed(String),
}

/// What the thread has.
struct Drawing {
    page: Page,
    screen: Screen,
    latest: Arc<Latest>,
    stops: Stops,
    closing: Arc<AtomicBool>,
    /// Whether the picture is not that of what is known.
    is_stale: bool,
}

impl RunningPage {
    /// Takes the terminal, and shows `page` and then what comes to `latest`.
    pub(crate) fn start(page: Page, latest: Arc<Latest>) -> io::Result<Self> {
        let closing = Arc::new(AtomicBool::new(false));
        let (screen, stops) = (Screen::new()?, Stops::open()?);
        let mut drawing = Drawing { page, screen, latest, stops, closing: Arc::clone(&closing), is_stale: true };
        let (leaving, left) = oneshot::channel();
        let (giving_back, given_back) = mpsc::channel();
        thread::Builder::new().name("page".to_owned()).spawn(move || {
            let ended = catch_unwind(AssertUnwindSafe(|| drawing.run()));
            drop(drawing);
            let _nobody_waits = leaving.send(match ended {
                Ok(Ok(())) => Left::Asked,
                Ok(Err(error)) => Left::Failed(error.to_string()),
                Err(_panic) => Left::Failed("an internal error; please report it".to_owned()),
            });
            drop(giving_back);
        })?;
        Ok(Self { closing, left: Some(left), given_back })
    }

    /// Waits until the page is left by its person, or failed; for ever once that was told.
    pub(crate) async fn left(&mut self) -> Left {
        match &mut self.left {
            Some(left) => {
                let told = left.await.unwrap_or_else(|_gone| Left::Failed("its thread is gone".to_owned()));
                self.left = None;
                told
            }
            None => std::future::pending().await,
        }
    }
}

impl Drop for RunningPage {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        if self.given_back.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            // The thread is held up by the terminal, whose modes can be put right all the same.
            let _put_right = disable_raw_mode();
            Stderr::release();
        }
    }
}

impl Drawing {
    /// Draws, and does what keys ask for, until the end is asked for.
    fn run(&mut self) -> io::Result<()> {
        while !self.closing.load(Ordering::SeqCst) {
            self.heed_stops()?;
            self.take_news();
            if self.screen.is_taken() && self.is_stale {
                injected_fault::strike(Place::Page, &self.page);
                self.screen.draw(&self.page)?;
                self.is_stale = false;
            }
            if !self.screen.is_taken() {
                thread::sleep(LOOK);
            } else if self.take_keys()? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Gives the terminal back before we are stopped, and takes it once it is ours.
    fn heed_stops(&mut self) -> io::Result<()> {
        if self.stops.are_asked_for() {
            self.screen.give_back()?;
            Stops::stop()?;
        }
        if self.stops.are_over() {
            // Who stopped us with SIGSTOP left the terminal as the shell wants it, which may have kept it.
            if is_ours() { self.screen.give_back()? } else { self.screen.lose() }
        }
        if !self.screen.is_taken() && is_ours() {
            self.screen.take()?;
            self.is_stale = true;
        }
        Ok(())
    }

    fn take_news(&mut self) {
        if let Some(snapshot) = self.latest.take() {
            self.page.show(snapshot);
            self.is_stale = true;
        }
        for line in Stderr::news() {
            self.page.hear(&strip_str(&line).to_string());
            self.is_stale = true;
        }
    }

    /// Waits for a key, and takes all that were pressed; whether one of them asked for the end.
    fn take_keys(&mut self) -> io::Result<bool> {
        let mut is_overlooked = wait_for_input(LOOK)?;
        while event::poll(Duration::ZERO)? {
            is_overlooked = false;
            self.is_stale = true;
            let Event::Key(pressed) = event::read()? else { continue };
            let Some(key) = Key::of(&pressed) else { continue };
            match self.page.key(key) {
                Outcome::Stay => {}
                Outcome::Quit => return Ok(true),
                Outcome::Copy(text) => self.screen.copy(&text)?,
                Outcome::Redraw => self.screen.forget()?,
                Outcome::Stop => {
                    Stops::ask()?;
                    return Ok(false);
                }
            }
        }
        if is_overlooked {
            // crossterm overlooks a key that comes together with a new size, until the next one; it is not waited for in a loop without a pause.
            thread::sleep(LOOK);
        }
        Ok(false)
    }
}
