//! Whether and how text is coloured. A colour only repeats what a word already says.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};

/// Whether escape sequences may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// To a terminal, unless `NO_COLOR` is set (<https://no-color.org>).
    On,
    /// To everything else.
    Off,
}

impl Colour {
    /// What suits `stream`, given the value of `NO_COLOR`.
    pub fn for_stream(stream: &impl IsTerminal, no_color: Option<&std::ffi::OsStr>) -> Self {
        let unwanted = no_color.is_some_and(|value| !value.is_empty());
        if stream.is_terminal() && !unwanted { Self::On } else { Self::Off }
    }

    /// `text` in `tone`.
    pub(super) fn paint(self, tone: Tone, text: &str) -> String {
        match self {
            Self::Off => text.to_owned(),
            Self::On => {
                let style = tone.style();
                format!("{}{text}{}", style.render(), style.render_reset())
            }
        }
    }
}

/// What a word says, as a colour repeats it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    /// Served from a cache.
    Good,
    /// Something to look at.
    Notable,
    /// Bulk reads from etcd, or a loss.
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
