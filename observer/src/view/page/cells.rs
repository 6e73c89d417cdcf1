//! Text as a terminal shows it: measured in cells, and without characters that have an effect other than being shown.

use ratatui::buffer::CellWidth as _;
use ratatui::style::Style;
use ratatui::text::Span;

use crate::printable::{self, Printable};
use crate::view::table::Align;

/// Maximum number of code points in one character on the screen. Languages need a few; text that is drawn over other lines has
/// more.
const MOST_MARKS: usize = 8;

/// The units of numbers on the page.
const UNITS: [&str; 12] = ["%", "B", "kB", "MB", "GB", "TB", "µs", "ms", "s", "m", "h", "d"];

/// Units that a smaller unit may follow, as in `1 m 43 s`. Each has the space before it.
const LONGER: [&str; 3] = [" m", " h", " d"];

/// Stands for text that has no room.
const CUT: &str = "…";

/// `text` with unprintable characters replaced, and also characters of too many code points. Names come from the wire and may
/// contain anything.
pub(super) fn printable(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let span = Span::raw(Printable::of(text).into_string());
    span.styled_graphemes(Style::new())
        .map(|grapheme| if grapheme.symbol.chars().count() > MOST_MARKS { printable::REPLACEMENT } else { grapheme.symbol })
        .collect()
}

/// The width of a printable text in cells.
pub(super) fn width(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    Span::raw(text).styled_graphemes(Style::new()).map(|grapheme| usize::from(grapheme.symbol.cell_width())).sum()
}

/// The part of a printable text that fits into `cells`, with `…` if something is left out.
pub(super) fn cut(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    let Some(room) = cells.checked_sub(1) else { return String::new() };
    let (kept, _) = text.split_at(fitting(text, room));
    format!("{kept}{CUT}")
}

/// The bytes of a printable text that fit into `cells`.
fn fitting(text: &str, cells: usize) -> usize {
    let mut bytes = 0;
    let mut room = cells;
    for grapheme in Span::raw(text).styled_graphemes(Style::new()) {
        let Some(rest) = room.checked_sub(usize::from(grapheme.symbol.cell_width())) else { break };
        room = rest;
        bytes += grapheme.symbol.len();
    }
    bytes
}

/// A printable text in exactly `cells`, aligned to one side.
pub(super) fn filled(text: &str, cells: usize, align: Align) -> String {
    let text = cut(text, cells);
    let spaces = " ".repeat(cells.saturating_sub(width(&text)));
    match align {
        Align::Left => text + &spaces,
        Align::Right => spaces + &text,
    }
}

/// A printable text in lines of at most `cells` cells. Lines break between words, but not before a unit. Words longer than a line
/// are broken, too.
pub(super) fn wrap(text: &str, cells: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in &words(text) {
        let together = width(&line) + 1 + width(word);
        if !line.is_empty() && together > cells {
            lines.push(std::mem::take(&mut line));
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        while width(&line) > cells {
            let first = line.chars().next().map_or(0, char::len_utf8);
            let rest = line.split_off(fitting(&line, cells).max(first));
            lines.push(std::mem::replace(&mut line, rest));
        }
    }
    lines.push(line);
    lines
}

/// The words of a text; a number and its unit are one word, such as `29 s`.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let is_unit = UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')']));
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let ends_in_digit = |before: &str| before.ends_with(|character: char| character.is_ascii_digit());
        // `1 m 43 s`
        let is_more = |before: &str| LONGER.iter().any(|unit| before.strip_suffix(unit).is_some_and(ends_in_digit));
        match words.last_mut().filter(|before| (is_unit && ends_in_digit(before)) || (is_number && is_more(before))) {
            Some(number) => number.extend([" ", word]),
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// Printable ASCII: one byte is one character and one cell.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_its_display_width() {
        for (text, cells, expected) in [
            ("controller", 10, "controller"),
            ("controller", 9, "controll…"),
            ("控制器管理", 10, "控制器管理"),
            ("控制器管理", 9, "控制器管…"),
            ("控制器管理", 8, "控制器…"),
            ("e\u{301}te\u{301}", 2, "e\u{301}…"),
            ("long", 1, "…"),
            ("long", 0, ""),
            ("", 0, ""),
        ] {
            assert_eq!(cut(text, cells), expected, "{text} in {cells}");
            assert!(width(&cut(text, cells)) <= cells, "{text} in {cells}");
        }
    }

    #[test]
    fn unprintable_characters_are_replaced() {
        assert_eq!(printable("a\u{1b}[31mb\nc\td"), "a\u{FFFD}[31mb\u{FFFD}c\u{FFFD}d");
        assert_eq!(printable("\u{202E}sdop"), "\u{FFFD}sdop");
        assert_eq!(printable("e\u{301}"), "e\u{301}");
        assert_eq!(printable(&format!("z{}", "\u{301}".repeat(100))), "\u{FFFD}");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("Share one informer in the process", 12), ["Share one", "informer in", "the process"]);
        assert_eq!(wrap("KUBE_FEATURE_WatchListClient=false now", 10), ["KUBE_FEATU", "RE_WatchLi", "stClient=f", "alse now"]);
        assert_eq!(wrap("silent for 1 m 43 s, 9 kB", 14), ["silent for", "1 m 43 s, 9 kB"]);
        assert_eq!(wrap("silent for 1 m 43 s, 9 kB", 13), ["silent for", "1 m 43 s,", "9 kB"]);
        assert_eq!(wrap("控制", 1), ["控", "制", ""]);
        assert_eq!(wrap("", 10), [""]);
    }
}
