//! Writes JSON that is safe on a terminal: control characters and invisible characters are written as `\uXXXX`, with the same
//! meaning.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, PrettyFormatter};

use super::character::is_shown;
use super::text::Printable;

/// Formats one value on several lines, with indentation.
pub(crate) fn json(value: &impl Serialize) -> serde_json::Result<Printable> {
    of(value, PrettyFormatter::new())
}

/// Formats one value on one line.
pub(crate) fn json_line(value: &impl Serialize) -> serde_json::Result<Printable> {
    of(value, CompactFormatter)
}

fn of(value: &impl Serialize, formatter: impl Formatter) -> serde_json::Result<Printable> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Escaping(formatter)))?;
    // All line breaks in `bytes` come from the formatter, since those in strings are escaped.
    let mut text = Printable::lines(String::from_utf8_lossy(&bytes));
    text.end_line();
    Ok(text)
}

/// A formatter that also escapes characters that `serde_json` does not escape. `serde_json` escapes only controls below U+0020.
struct Escaping<F>(F);

impl<F: Formatter> Formatter for Escaping<F> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(place) = rest.find(|character| !is_shown(character)) {
            let (shown, further) = rest.split_at(place);
            self.0.write_string_fragment(out, shown)?;
            let mut characters = further.chars();
            let mut units = [0; 2];
            for unit in characters.next().unwrap_or_default().encode_utf16(&mut units) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = characters.as_str();
        }
        self.0.write_string_fragment(out, rest)
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        self.0.write_char_escape(out, escape)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terminal_controls_are_escaped_in_json_values_and_keys() {
        let value: BTreeMap<&str, &str> = [("\u{9b}31m", "a\u{202e}b\u{1b}\u{7f}\n\"\u{e0001}ä")].into();
        let line = json_line(&value).unwrap();
        assert_eq!(line.as_str(), "{\"\\u009b31m\":\"a\\u202eb\\u001b\\u007f\\n\\\"\\udb40\\udc01ä\"}\n");
        assert_eq!(json(&value).unwrap().as_str().lines().count(), 3);
    }

    proptest! {
        #[test]
        fn escaped_json_keeps_its_meaning_without_terminal_controls(text in any::<String>(), further in "[\\u{0}-\\u{10ffff}]{0,20}") {
            let value = BTreeMap::from([(text.as_str(), vec![further.as_str()])]);
            for printed in [json(&value).unwrap(), json_line(&value).unwrap()] {
                let read: BTreeMap<String, Vec<String>> = serde_json::from_str(printed.as_str()).unwrap();
                prop_assert_eq!(&read[&text], &vec![further.clone()]);
                prop_assert!(printed.as_str().chars().all(|character| character == '\n' || is_shown(character)));
            }
        }
    }
}
