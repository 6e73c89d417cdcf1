//! A filter that is being typed.

use super::filter::Filter;
use crate::printable::is_shown;

/// Characters of a filter; what is pasted beyond them is left out.
const LONGEST: usize = 200;

/// What was typed so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Prompt {
    pub text: String,
    /// What is wrong with it; empty if nothing is.
    pub problem: String,
    /// The filter before, for when the person thinks better of it.
    pub before: Filter,
}

impl Prompt {
    /// Another character, if it can be seen.
    pub(super) fn push(&mut self, character: char) {
        if is_shown(character) && self.text.chars().count() < LONGEST {
            self.text.push(character);
        }
    }

    /// One character less.
    pub(super) fn pop(&mut self) {
        self.text.pop();
    }
}
