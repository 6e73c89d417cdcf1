//! The form of an explanation: a heading, then lines with a label in front.

use crate::printable::Printable;
use crate::view::colour::{Colour, Tone};

/// Width of wrapped paragraphs, in characters.
const WIDTH: usize = 100;

/// The format of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainFormat {
    /// Human-readable text.
    Text,
    /// One JSON object.
    Json,
}

/// The heading of an explanation, and an empty line. `kind` is the kind of thing that `name` stands for.
pub(super) fn heading(name: &str, kind: &str, colour: Colour) -> Printable {
    let mut out = colour.paint(Tone::Heading, name);
    if !kind.is_empty() {
        out.push(format_args!("   {kind}"));
    }
    out.end_line();
    out.end_line();
    out
}

pub(super) fn line(name: &str, text: &str, out: &mut Printable) {
    label(name, out);
    out.push_line(text);
}

pub(super) fn label(name: &str, out: &mut Printable) {
    out.push(format_args!("{name:<13} "));
}

/// Appends `first` and `text`, wrapped between words. Later lines are indented by the width of `first`.
pub(super) fn paragraph(first: &str, text: &str, out: &mut Printable) {
    let indent = " ".repeat(first.chars().count());
    let mut written = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let is_full = written.chars().count() + 1 + word.chars().count() > WIDTH;
        if !is_empty && is_full {
            out.push_line(&written);
            written.clone_from(&indent);
            is_empty = true;
        }
        if !is_empty {
            written.push(' ');
        }
        written.push_str(word);
        is_empty = false;
    }
    out.push_line(&written);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_and_indented() {
        let mut out = Printable::new();
        let long = "x".repeat(120);
        paragraph("- ", &format!("{} {long} end", ["word"; 21].join(" ")), &mut out);
        let lines: Vec<&str> = out.as_str().lines().collect();
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[0].starts_with("- word ") && lines[0].len() <= WIDTH, "{lines:?}");
        assert_eq!(lines[2], format!("  {long}"));
        assert_eq!(lines[3], "  end");
    }
}
