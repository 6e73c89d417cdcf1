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
            let ignored = self.ignored_terms().map_or_else(String::new, |terms| format!("ignored here: {terms}; "));
            let (tone, hint) = match prompt.problem.as_str() {
                "" => (Tone::Quiet, format!("{ignored}enter keeps it, esc does not")),
                problem => (Tone::Bad, problem.to_owned()),
            };
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
        let ignored = self.ignored_terms().map_or_else(String::new, |terms| format!(" (ignored: {terms})"));
        let (seen, all) = (self.rows_in_sight().len() as u64, self.rows.len() as u64);
        Some(format!("filter {}: {} of {}{ignored}", self.filter.text(), count(seen), count(all)))
    }

    /// The names in the filter that rows of this tab do not have.
    fn ignored_terms(&self) -> Option<String> {
        let terms = self.filter.passed_over(self.tab.answers());
        (!terms.is_empty()).then(|| terms.join(", "))
    }
}

/// The last `cells` of the typed text, with `…` if something is left out before them.
fn end_of(text: &str, cells: usize) -> String {
    let text = printable(text);
    if width(&text) <= cells {
        return text;
    }
    let mut kept = text.as_str();
    while width(kept) >= cells && !kept.is_empty() {
        let mut characters = kept.chars();
        characters.next();
        kept = characters.as_str();
    }
    format!("…{kept}")
}
