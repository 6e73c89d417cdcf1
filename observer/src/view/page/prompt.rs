//! A filter while it is typed.

use super::filter::Filter;
use crate::printable::is_shown;

/// Longest filter in characters; the rest of pasted text is dropped.
const LONGEST: usize = 200;

/// The text typed so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Prompt {
    pub text: String,
    /// The problem with the text; empty if it is valid.
    pub problem: String,
    /// The filter to restore if the user cancels.
    pub before: Filter,
}

impl Prompt {
    /// Appends a character, if it can be seen.
    pub(super) fn push(&mut self, character: char) {
        if is_shown(character) && self.text.chars().count() < LONGEST {
            self.text.push(character);
        }
    }

    /// Removes the last character.
    pub(super) fn pop(&mut self) {
        self.text.pop();
    }
}
