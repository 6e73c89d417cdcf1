//! Holds back the messages for standard error while a page is on the same terminal.
//!
//! The state is global, as standard error is. All of watchtap's messages pass through here, including those of panics.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::streams::{stderr, stderr_is_terminal};
use super::subscription;
use super::text::Printable;

/// Maximum number of lines held back; older ones are dropped.
const MOST_LINES: usize = 500;

/// Maximum number of bytes kept of each line.
const LONGEST: usize = 4096;

/// The text held back; `None` while no page has the terminal.
static HELD: Mutex<Option<Held>> = Mutex::new(None);

/// Writes to standard error, or holds the text until the page closes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldStderr;

/// Lines in the order written.
#[derive(Debug, Default)]
struct Held {
    lines: VecDeque<String>,
    left_out: u64,
    /// The number of lines at the end that the page has not shown.
    news: usize,
    /// The text written so far of a line that has no line end yet.
    begun: Vec<u8>,
}

impl HeldStderr {
    /// Begins to hold text back.
    pub(crate) fn hold() {
        *held() = Some(Held::default());
    }

    /// Writes the held text, and stops holding text back.
    pub(crate) fn release() {
        let Some(released) = held().take() else { return };
        if stderr_is_terminal() {
            // If stderr is closed, there is nowhere to report that.
            let _written = stderr().print(&released.text());
        }
    }

    /// Prints `text`. If stderr is not the terminal, the text is written at once, since it cannot damage the page.
    pub(crate) fn print(text: &Printable) -> io::Result<()> {
        subscription::pass_on(text);
        if let Some(held) = held().as_mut() {
            held.take(text);
            if stderr_is_terminal() {
                return Ok(());
            }
        }
        stderr().print(text)
    }

    /// The lines written since the last call.
    pub(crate) fn news() -> Vec<String> {
        held().as_mut().map_or_else(Vec::new, Held::take_news)
    }
}

fn held() -> MutexGuard<'static, Option<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Held {
    fn take(&mut self, text: &Printable) {
        let bytes = text.as_str().as_bytes();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST.saturating_sub(self.begun.len());
            match part.strip_suffix(b"\n") {
                Some(end) => {
                    self.begun.extend(end.iter().take(room));
                    let line = String::from_utf8_lossy(&mem::take(&mut self.begun)).into_owned();
                    self.push(line);
                }
                None => self.begun.extend(part.iter().take(room)),
            }
        }
    }

    fn push(&mut self, line: String) {
        if self.lines.len() == MOST_LINES {
            self.lines.pop_front();
            self.left_out += 1;
        }
        self.lines.push_back(line);
        self.news = (self.news + 1).min(self.lines.len());
    }

    fn take_news(&mut self) -> Vec<String> {
        let known = self.lines.len() - mem::take(&mut self.news);
        self.lines.iter().skip(known).cloned().collect()
    }

    /// All lines, as they were printed. Their characters have been replaced already (see [`Printable`]), so they stay unchanged
    /// here.
    fn text(&self) -> Printable {
        let mut text = Printable::new();
        if self.left_out > 0 {
            text.push_line(format_args!("watchtap: earlier lines omitted here: {}", self.left_out));
        }
        for line in &self.lines {
            text.push_line(line);
        }
        text.push(String::from_utf8_lossy(&self.begun));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_lines_are_printed_unchanged_and_new_only_once() {
        let mut held = Held::default();
        held.take(&Printable::words("one\ntw"));
        assert_eq!(held.take_news(), ["one"]);
        held.take(&Printable::words("o\n\nrest"));
        assert_eq!(held.take_news(), ["two", ""]);
        assert_eq!(held.take_news(), Vec::<String>::new());
        assert_eq!(written(&held), "one\ntwo\n\nrest");
    }

    #[test]
    fn latest_held_lines_are_kept_and_earlier_ones_counted() {
        let mut held = Held::default();
        for line in 0..MOST_LINES + 2 {
            held.take(&Printable::line(line));
        }
        assert!(written(&held).starts_with("watchtap: earlier lines omitted here: 2\n2\n3\n"));
        assert_eq!(held.take_news().len(), MOST_LINES);
    }

    #[test]
    fn only_the_beginning_of_an_overlong_line_is_kept() {
        let mut held = Held::default();
        held.take(&Printable::of("a".repeat(3 * LONGEST)));
        held.take(&Printable::words("b\n"));
        assert_eq!(held.take_news(), ["a".repeat(LONGEST)]);
    }

    fn written(held: &Held) -> String {
        held.text().into_string()
    }
}
