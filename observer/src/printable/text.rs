//! Text that is safe on a terminal. The *gate* replaces all other characters; line ends and styles are added only by watchtap.

use std::fmt::{self, Display, Write as _};

use anstyle::Style;

use super::character::{REPLACEMENT, is_shown};

/// Text that is safe on a terminal. Constant text of watchtap (`&'static str`) is taken unchanged, and all other text passes the
/// gate. The gate replaces with U+FFFD each character that a terminal would interpret or not display, including line breaks.
///
/// It does not implement [`Display`]: formatted into another text, it would pass the gate a second time and lose its styles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printable(String);

/// The gate: a writer that replaces unsafe characters.
struct Gate<'t> {
    out: &'t mut String,
    breaks: Breaks,
}

/// The gate's treatment of line breaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breaks {
    Replaced,
    Kept,
    /// Lines after the first are indented deeper than any line of watchtap, so that untrusted text cannot imitate such a line.
    Indented,
}

impl Printable {
    /// Empty text.
    pub const fn new() -> Self {
        Self(String::new())
    }

    /// Constant text of watchtap, unchanged.
    pub fn words(words: &'static str) -> Self {
        Self(words.to_owned())
    }

    /// Any text, through the gate.
    pub fn of(text: impl Display) -> Self {
        let mut printable = Self::new();
        printable.push(text);
        printable
    }

    /// Any text, through the gate, and a line end.
    pub fn line(text: impl Display) -> Self {
        let mut line = Self::of(text);
        line.end_line();
        line
    }

    /// Any text, through the gate, as lines. All but the first are indented, because untrusted text may contain them.
    pub fn paragraph(text: impl Display) -> Self {
        let mut paragraph = Self::new();
        paragraph.gate(text, Breaks::Indented);
        paragraph.end_line();
        paragraph
    }

    /// Text whose line breaks were all added by watchtap, through the gate. Line breaks stay.
    pub(crate) fn lines(text: impl Display) -> Self {
        let mut lines = Self::new();
        lines.gate(text, Breaks::Kept);
        lines
    }

    /// Text from the command line parser, with its line breaks. Keep its styles only if it contains no untrusted text.
    pub(crate) fn of_command_line(text: &clap::builder::StyledStr, styles: Styles) -> Self {
        match styles {
            Styles::Dropped => Self::lines(text),
            Styles::Kept => Self::lines_with_styles(&text.ansi().to_string()),
        }
    }

    /// Any text, through the gate, except line breaks and styles (`ESC [ digits m`), which stay.
    pub(crate) fn lines_with_styles(text: &str) -> Self {
        let mut lines = Self::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("\u{1b}[") {
            lines.gate(before, Breaks::Kept);
            let digits = after.find(|character: char| !character.is_ascii_digit() && character != ';').unwrap_or(after.len());
            let (sequence, further) = after.split_at(digits);
            if let Some(further) = further.strip_prefix('m') {
                lines.0.extend(["\u{1b}[", sequence, "m"]);
                rest = further;
            } else {
                lines.0.push_str(REPLACEMENT);
                rest = after;
            }
        }
        lines.gate(rest, Breaks::Kept);
        lines
    }

    /// Any text, through the gate, in a style.
    pub(crate) fn styled(style: Style, text: impl Display) -> Self {
        let mut styled = Self(style.render().to_string());
        styled.push(text);
        styled.0.push_str(&style.render_reset().to_string());
        styled
    }

    /// Appends any text, through the gate.
    pub fn push(&mut self, text: impl Display) {
        self.gate(text, Breaks::Replaced);
    }

    /// Appends any text, through the gate, and a line end.
    pub fn push_line(&mut self, text: impl Display) {
        self.push(text);
        self.end_line();
    }

    /// Appends text that has passed the gate already.
    pub fn append(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// Appends a line end.
    pub fn end_line(&mut self) {
        self.0.push('\n');
    }

    /// Removes spaces at the end.
    pub(crate) fn trim_end(&mut self) {
        self.0.truncate(self.0.trim_end_matches(' ').len());
    }

    /// The text, safe for a terminal.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as an ordinary string.
    pub fn into_string(self) -> String {
        self.0
    }

    fn gate(&mut self, text: impl Display, breaks: Breaks) {
        // If a `Display` fails, the text that it has written so far stays.
        let _infallible = write!(Gate { out: &mut self.0, breaks }, "{text}");
    }
}

/// Whether the styles of a text are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Styles {
    Kept,
    Dropped,
}

impl fmt::Write for Gate<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            match (character, self.breaks) {
                ('\n', Breaks::Kept) => self.out.push('\n'),
                ('\n', Breaks::Indented) => self.out.push_str("\n  "),
                (shown, _) if is_shown(shown) => self.out.push(shown),
                (_, _) => self.out.push_str(REPLACEMENT),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNED: &str = "a\u{1b}]0;OWNED\u{7}\u{202e}\u{9b}b\n";

    #[test]
    fn values_lose_terminal_controls_but_own_styles_stay() {
        assert_eq!(Printable::of(OWNED).as_str(), "a\u{FFFD}]0;OWNED\u{FFFD}\u{FFFD}\u{FFFD}b\u{FFFD}");
        assert_eq!(Printable::paragraph("one\ntwo\r\nwatchtap: three").as_str(), "one\n  two\u{FFFD}\n  watchtap: three\n");
        assert_eq!(Printable::words("one\ntwo\n").as_str(), "one\ntwo\n");
        assert_eq!(Printable::styled(Style::new().bold(), "a\u{1b}[31mb").as_str(), "\u{1b}[1ma\u{FFFD}[31mb\u{1b}[0m");
    }

    #[test]
    fn command_line_help_keeps_only_line_breaks_and_styles() {
        let lines = |text: &str| Printable::lines_with_styles(text).into_string();
        assert_eq!(lines("\u{1b}[1mUsage:\u{1b}[0m\n x"), "\u{1b}[1mUsage:\u{1b}[0m\n x");
        assert_eq!(lines("\u{1b}[2J\u{1b}]0;a\u{7}\u{1b}[31"), "\u{FFFD}2J\u{FFFD}]0;a\u{FFFD}\u{FFFD}31");
    }
}
