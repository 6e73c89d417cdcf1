//! Texts in the fields of log lines.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The text of a JSON field, or none if the field has another type.
#[derive(Default)]
pub(super) struct Text<'l>(Option<Cow<'l, str>>);

impl<'l> Text<'l> {
    pub(super) const fn of(text: Cow<'l, str>) -> Self {
        Self(Some(text))
    }

    pub(super) fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl<'de: 'l, 'l> Deserialize<'de> for Text<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_bool<E>(self, _other: bool) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_i64<E>(self, _other: i64) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_u64<E>(self, _other: u64) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_f64<E>(self, _other: f64) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_unit<E>(self) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut others: A) -> Result<Text<'de>, A::Error> {
        while others.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut others: A) -> Result<Text<'de>, A::Error> {
        while others.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }
}

/// The first element of a JSON array, if it is a text. The others may have any type.
#[derive(Default)]
pub(super) struct FirstText<'l>(Text<'l>);

impl<'l> FirstText<'l> {
    pub(super) const fn of(first: Text<'l>) -> Self {
        Self(first)
    }

    pub(super) fn get(&self) -> Option<&str> {
        self.0.get()
    }
}

impl<'de: 'l, 'l> Deserialize<'de> for FirstText<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Vec::<Text<'de>>::deserialize(deserializer)?.into_iter().next().unwrap_or_default()))
    }
}

/// The text, cut at `most` bytes.
pub(super) fn cut(text: &str, most: usize) -> String {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default().to_owned()
}
