//! The JSON form of records, as Kubernetes components write it with `--logging-format=json`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::clock::Stamp;
use super::fields::{Fields, MOST_FIELDS};
use super::record::{KlogRecord, Severity, file_name};
use crate::time::Timestamp;

/// Reads a record of kubernetes/component-base `logs/json/json.go`, v0.19.0 to v0.36.0: time `ts`, place `caller`, message `msg`, and
/// verbosity `v`. An error has no verbosity. `None` if the time or the message is missing, or if there is a level: other programs log so.
pub(in crate::logs) fn read_json(line: &str) -> Option<KlogRecord<'_>> {
    let Object { time, caller, message, is_error, has_level, fields } = serde_json::from_str(line).ok()?;
    if has_level {
        return None;
    }
    let severity = if is_error { Severity::Error } else { Severity::Info };
    let file = match caller {
        Cow::Borrowed(caller) => Cow::Borrowed(file_of(caller)),
        Cow::Owned(caller) => Cow::Owned(file_of(&caller).to_owned()),
    };
    Some(KlogRecord {
        severity,
        stamp: time_of(time?).map(Stamp::Complete),
        file,
        message: without_line_feed(message?),
        fields: Fields(fields),
    })
}

/// `cache/reflector.go:158` without the folder and the line.
fn file_of(caller: &str) -> &str {
    let file = file_name(caller);
    file.rsplit_once(':').map_or(file, |(file, _)| file)
}

/// The time is in milliseconds. Values that would be before 1973 are in seconds, as the documentation of Kubernetes shows them.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates, and NaN becomes 0")]
fn time_of(number: f64) -> Option<Timestamp> {
    let micros = number * if number < 1e11 { 1e6 } else { 1e3 };
    // A double has no nanoseconds of the present.
    (micros > 0.0 && micros < 1.8e16).then(|| Timestamp::from_nanos(micros.round() as u64 * 1_000))
}

#[derive(Default)]
struct Object<'l> {
    time: Option<f64>,
    caller: Cow<'l, str>,
    message: Option<Cow<'l, str>>,
    is_error: bool,
    has_level: bool,
    fields: Vec<(Cow<'l, str>, Cow<'l, str>)>,
}

impl<'de: 'l, 'l> Deserialize<'de> for Object<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Object<'de>, A::Error> {
        let mut object = Object { is_error: true, ..Object::default() };
        while let Some(Scalar(key)) = entries.next_key()? {
            let Scalar(value) = entries.next_value()?;
            match &*key {
                "ts" => object.time = value.parse().ok(),
                "caller" => object.caller = value,
                "msg" => object.message = Some(value),
                "level" => object.has_level = true,
                "v" => object.is_error = false,
                _other if object.fields.len() < MOST_FIELDS => object.fields.push((key, value)),
                _other => {}
            }
        }
        Ok(object)
    }
}

/// A text without its last line feed. klog ends a message without fields by one, which JSON keeps (kubernetes/klog `klog.go`, v2.80.1).
fn without_line_feed(message: Cow<'_, str>) -> Cow<'_, str> {
    match message {
        Cow::Borrowed(message) => Cow::Borrowed(message.trim_ascii_end()),
        Cow::Owned(message) => Cow::Owned(message.trim_ascii_end().to_owned()),
    }
}

/// A value as text; an object, a list and null are empty.
struct Scalar<'l>(Cow<'l, str>);

impl<'de: 'l, 'l> Deserialize<'de> for Scalar<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Scalar<'de>, E> {
        Ok(Scalar(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar<'de>, E> {
        Ok(Scalar(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar<'de>, E> {
        Ok(Scalar(Cow::Owned(value.to_string())))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar<'de>, E> {
        Ok(Scalar(Cow::Owned(value.to_string())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Scalar<'de>, E> {
        Ok(Scalar(Cow::Owned(value.to_string())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar<'de>, E> {
        Ok(Scalar(Cow::Owned(value.to_string())))
    }

    fn visit_unit<E>(self) -> Result<Scalar<'de>, E> {
        Ok(Scalar(Cow::Borrowed("")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut others: A) -> Result<Scalar<'de>, A::Error> {
        while others.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar(Cow::Borrowed("")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut others: A) -> Result<Scalar<'de>, A::Error> {
        while others.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar(Cow::Borrowed("")))
    }
}
