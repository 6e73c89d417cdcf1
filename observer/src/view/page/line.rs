//! A line of text whose parts have tones.

use super::cells::{cut, printable, width};
use crate::view::colour::Tone;

/// The first `most` lines; the last of them has a mark if there are more. `cells` is the width of the terminal.
pub(super) fn first_lines(mut lines: Vec<Line>, most: usize, cells: usize) -> Vec<Line> {
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.pop() {
            lines.push(last.continued(cells));
        }
    }
    lines
}

/// A line. All of its text is printable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    parts: Vec<(Tone, String)>,
}

impl Line {
    /// `text` in `tone`.
    pub(super) fn of(tone: Tone, text: &str) -> Self {
        Self::default().and(tone, text)
    }

    /// Appends `text` to the line.
    pub(super) fn and(mut self, tone: Tone, text: &str) -> Self {
        self.parts.push((tone, printable(text)));
        self
    }

    /// The same line with `…` at its end, because the lines after it have no room.
    fn continued(self, cells: usize) -> Self {
        const MARK: &str = " …";
        if self.width() + width(MARK) <= cells {
            return self.and(Tone::Quiet, MARK);
        }
        let room = cells.saturating_sub(1);
        let mut line = Self::default();
        for (tone, text) in &self.parts {
            let kept = cut(text, room.saturating_sub(line.width()));
            line = line.and(*tone, kept.trim_end_matches('…'));
        }
        line.and(Tone::Quiet, "…")
    }

    pub(super) fn parts(&self) -> &[(Tone, String)] {
        &self.parts
    }

    /// Its width in cells.
    pub(super) fn width(&self) -> usize {
        self.parts.iter().map(|(_, text)| width(text)).sum()
    }

    /// Phrases on the left, and phrases aligned to the end of the line. The position of the phrases on the right does not depend on
    /// those on the left. Without room for both, only those on the right are shown.
    pub(super) fn left_and_right(left: &[(Tone, String)], right: &[(Tone, String)], cells: usize) -> Self {
        const APART: usize = 2;
        let mut end = Self::of_phrases(right, cells * 2 / 3);
        let room = if right.is_empty() { cells } else { cells.saturating_sub(end.width() + APART) };
        let mut line = Self::of_phrases(left, room);
        // The first phrase of each side is never left out, so both together may need more than the line.
        if !right.is_empty() && line.width() + APART + end.width() > cells {
            return Self::of_phrases(right, cells);
        }
        let between = cells.saturating_sub(line.width() + end.width());
        line = line.and(Tone::Plain, &" ".repeat(between));
        line.parts.append(&mut end.parts);
        line
    }

    /// Joins as many phrases by ` · ` as fit into `cells`. A phrase is never cut, since half a number would be another number. `…`
    /// marks that phrases are missing.
    pub(super) fn of_phrases(phrases: &[(Tone, String)], cells: usize) -> Self {
        const BETWEEN: &str = " · ";
        let mut line = Self::default();
        let mut room = cells;
        for (index, (tone, text)) in phrases.iter().enumerate() {
            let before = if index == 0 { "" } else { BETWEEN };
            let is_last = index + 1 == phrases.len();
            let needed = width(before) + width(&printable(text)) + if is_last { 0 } else { 2 };
            if index > 0 && needed > room {
                return line.and(Tone::Quiet, " …");
            }
            line = line.and(Tone::Quiet, before).and(*tone, text);
            room = room.saturating_sub(width(before) + width(&printable(text)));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_without_room_are_left_out_entirely() {
        let phrases: Vec<_> = ["41 lists", "2 relists", "1,204 requests"].map(|text| (Tone::Plain, text.to_owned())).to_vec();
        let text = |cells| Line::of_phrases(&phrases, cells).parts().iter().map(|(_, text)| text.as_str()).collect::<String>();
        assert_eq!(text(37), "41 lists · 2 relists · 1,204 requests");
        assert_eq!(text(36), "41 lists · 2 relists …");
        assert_eq!(text(22), "41 lists · 2 relists …");
        assert_eq!(text(21), "41 lists …");
        assert_eq!(text(3), "41 lists …");
    }
}
