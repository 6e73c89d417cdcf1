//! Whether and how text is coloured. A colour only repeats the meaning of a word.

use std::ffi::OsStr;
use std::fmt::Display;

use anstyle::{AnsiColor, Style};

use crate::printable::{Printable, stderr_is_terminal, stdout_is_terminal};

/// Whether escape sequences may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// For a terminal, unless `NO_COLOR` is set (<https://no-color.org>).
    On,
    /// For everything else.
    Off,
}

impl Colour {
    /// The choice for standard output.
    pub fn for_stdout() -> Self {
        Self::suiting(stdout_is_terminal(), std::env::var_os("NO_COLOR").as_deref())
    }

    /// The choice for standard error.
    pub fn for_stderr() -> Self {
        Self::suiting(stderr_is_terminal(), std::env::var_os("NO_COLOR").as_deref())
    }

    fn suiting(is_terminal: bool, no_color: Option<&OsStr>) -> Self {
        let unwanted = no_color.is_some_and(|value| !value.is_empty());
        if is_terminal && !unwanted { Self::On } else { Self::Off }
    }

    /// `text` in `tone`, through the gate.
    pub(super) fn paint(self, tone: Tone, text: impl Display) -> Printable {
        match self {
            Self::Off => Printable::of(text),
            Self::On => Printable::styled(tone.style(), text),
        }
    }
}

/// The meaning of a word, which a colour repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    /// A good result, such as an answer from a cache.
    Good,
    /// Deserves a look.
    Notable,
    /// A bad result, such as an answer from etcd, a storm or a loss.
    Bad,
    Heading,
    Quiet,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Notable => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Heading => Style::new().bold(),
            Self::Quiet => Style::new().dimmed(),
        }
    }
}
