//! Lists of audit events, as a webhook gets them.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::audit::{AuditEvent, Line, MAX_LINE};

/// Reads a list of events (`EventList`), and calls `each` with one after the other: there is never more than one in memory. Returns
/// whether all of the text is such a list. If it is torn, the events before that are passed on all the same.
pub(super) fn read_list(text: &[u8], each: &mut dyn FnMut(AuditEvent)) -> bool {
    if text.len() > MAX_LINE {
        return false;
    }
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let is_list = ListReader { each }.deserialize(&mut deserializer);
    is_list.is_ok() && deserializer.end().is_ok()
}

struct ListReader<'e> {
    each: &'e mut dyn FnMut(AuditEvent),
}

struct ItemsReader<'e> {
    each: &'e mut dyn FnMut(AuditEvent),
}

impl<'de> DeserializeSeed<'de> for ListReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ListReader<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of audit events")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut has_items = false;
        while let Some(name) = fields.next_key::<std::borrow::Cow<'de, str>>()? {
            if name == "items" {
                fields.next_value_seed(ItemsReader { each: &mut *self.each })?;
                has_items = true;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        if has_items { Ok(()) } else { Err(A::Error::missing_field("items")) }
    }
}

impl<'de> DeserializeSeed<'de> for ItemsReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ItemsReader<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("audit events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(line) = items.next_element::<Line<'de>>()? {
            (self.each)(AuditEvent::of(line));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: &str = r#"{"auditID":"a","stage":"Panic","verb":"get"}"#;

    fn read(text: &str) -> (usize, bool) {
        let mut number = 0;
        let is_list = read_list(text.as_bytes(), &mut |_| number += 1);
        (number, is_list)
    }

    #[test]
    fn items_of_a_list_are_read() {
        assert_eq!(read(&format!(r#"{{"kind":"EventList","metadata":{{}},"items":[{ITEM},{ITEM}],"x":[1]}}"#)), (2, true));
        assert_eq!(read(r#"{"items":[]}"#), (0, true));
    }

    #[test]
    fn other_text_is_no_list() {
        for (text, number) in [
            ("{}".to_owned(), 0),
            (r#"{"items":1}"#.to_owned(), 0),
            (r#"{"items":[{"kind":"Pod"}]}"#.to_owned(), 0),
            (format!(r#"{{"items":[{ITEM},"#), 1),
            (format!(r#"{{"items":[{ITEM}]}} x"#), 1),
        ] {
            assert_eq!(read(&text), (number, false), "{text}");
        }
    }
}
