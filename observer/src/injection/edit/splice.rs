//! A change of bytes.

use std::ops::Range;

/// Text in place of a range of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::injection) struct Edit {
    pub(in crate::injection) range: Range<usize>,
    pub(in crate::injection) text: String,
    /// How deep the text belongs in the tree. Of two insertions at one place, the deeper one comes first: it continues a collection
    /// that the other one ends.
    pub(in crate::injection) depth: usize,
}

/// The text with all edits; `None` if two of them overlap.
pub(in crate::injection) fn splice(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end, usize::MAX - edit.depth));
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut spliced = String::with_capacity(text.len() + added);
    let mut done = 0;
    for edit in &edits {
        spliced.push_str(text.get(done..edit.range.start)?);
        spliced.push_str(&edit.text);
        done = edit.range.end;
    }
    spliced.push_str(text.get(done..)?);
    Some(spliced)
}
