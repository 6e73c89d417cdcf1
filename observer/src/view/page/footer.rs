//! The last line: the prompt, the result of the last key, or the keys that work here.

use super::binding::hints;
use super::cells::{printable, width};
use super::line::Line;
use super::state::Page;
use crate::view::colour::Tone;
use crate::view::quantity::{count, counted};

impl Page {
    /// The prompt, otherwise the result of the last key, otherwise the available keys. In a small terminal, `hidden` names the parts
    /// of the page that have no room.
    pub(super) fn footer(&self, cells: usize, hidden: &[String]) -> Line {
        if let Some(prompt) = &self.prompt {
            let hint = if prompt.problem.is_empty() { "enter keeps it, esc does not" } else { &prompt.problem };
            let tone = if prompt.problem.is_empty() { Tone::Quiet } else { Tone::Bad };
            return Line::of(Tone::Plain, &end_of(&format!("/{}_", prompt.text), cells / 2)).and(tone, &format!("  {hint}"));
        }
        if !self.message.is_empty() {
            return Line::of(Tone::Notable, &self.message);
        }
        let keys = hints(self.place()).map(|hint| (Tone::Quiet, hint.to_owned()));
        let filter = self.filter_in_words().map(|text| (Tone::Notable, text));
        let origin = self.origin.as_ref().filter(|_| self.is_table());
        let origin =
            origin.map(|origin| (Tone::Notable, format!("esc returns to {} {}", origin.tab.place() + 1, origin.tab.name())));
        let new_rows = self.new_rows_in_sight() as u64;
        let new_rows =
            (self.is_table() && new_rows > 0).then(|| (Tone::Notable, format!("▲ {} (r)", counted(new_rows, "new row"))));
        let hidden = (!hidden.is_empty()).then(|| (Tone::Quiet, format!("hidden: {}", hidden.join(", "))));
        Line::of_phrases(&filter.into_iter().chain(origin).chain(new_rows).chain(hidden).chain(keys).collect::<Vec<_>>(), cells)
    }

    /// The columns of the table that have no room: `9 columns`.
    pub(super) fn hidden_columns(&self) -> Option<String> {
        let hidden = self.widths.hidden("");
        (self.is_table() && hidden > 0).then(|| counted(hidden, "column"))
    }

    /// The filter, and how many rows it hides.
    fn filter_in_words(&self) -> Option<String> {
        if self.filter.is_empty() || !self.is_table() {
            return None;
        }
        let passed_over = self.filter.passed_over(self.tab.answers());
        let passed_over = if passed_over.is_empty() { String::new() } else { format!(" (ignored: {})", passed_over.join(", ")) };
        let (seen, all) = (self.rows_in_sight().len() as u64, self.rows.len() as u64);
        Some(format!("filter {}: {} of {}{passed_over}", self.filter.text(), count(seen), count(all)))
    }
}

/// The last `cells` of the typed text.
fn end_of(text: &str, cells: usize) -> String {
    let text = printable(text);
    let mut kept = text.as_str();
    while width(kept) > cells {
        let mut characters = kept.chars();
        characters.next();
        kept = characters.as_str();
    }
    kept.to_owned()
}
