//! A field line, reduced to the parts that may be kept.

use super::text::Text;
use crate::http::headers::MAX_VALUE;
use crate::http::{HeaderName, Identity, Target, TraceParent, method};

/// Longest name that is read, in bytes; all names that matter here are shorter.
pub(super) const MAX_NAME: usize = 64;
/// Longest method that is read, in bytes; none is longer.
const MAX_METHOD: usize = 32;
/// Longest `:path` that is parsed, in bytes; a longer one is unknown, because a cut one could mean something else.
const MAX_TARGET: usize = 64 * 1024;
/// Longest `authorization` that is read, in bytes: more than [`Identity::from_authorization`] parses.
const MAX_AUTHORIZATION: usize = 16 * 1024 + 64;

/// A field's name, reduced to its meaning here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// `:method`; its value is kept as [`Value::Text`].
    Method,
    /// `:path`; its value is kept as [`Value::Target`].
    Path,
    /// `:status`; its value is kept as [`Value::Status`].
    Status,
    /// Another pseudo-header field: `:scheme`, `:authority`, `:protocol`.
    OtherPseudo,
    /// `authorization`; its value is kept as [`Value::Identity`].
    Authorization,
    /// `traceparent`; its value is kept as [`Value::TraceParent`].
    TraceParent,
    /// A name on the allow-list.
    Listed(HeaderName),
    /// Any other name.
    OffList,
    /// A name from a table entry that was never seen.
    Unknown,
}

/// The part of a field's value that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing, because the name does not allow it.
    NotKept,
    /// Nothing, because the value was never seen or does not fit its name.
    Unknown,
    /// The first 1024 bytes of the value of an allow-listed field. For `:method`, the method, or `OTHER` if HTTP defines no such
    /// method.
    Text(Box<[u8]>),
    /// The parsed `:path`; never the text itself.
    Target(Box<Target>),
    /// The code of a valid `:status`.
    Status(u16),
    /// The sender's identity, as an `authorization` claims it.
    Identity(Box<Identity>),
    /// A valid `traceparent`.
    TraceParent(Box<TraceParent>),
}

/// One field line of a header block, and one entry of the dynamic table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldLine {
    /// The name, as far as it matters.
    pub name: Name,
    /// Length of the name in bytes; `None` when the name was never seen.
    pub name_length: Option<u32>,
    /// The part of the value that is kept.
    pub value: Value,
    /// Length of the complete value in bytes; `None` if it was never seen.
    pub value_length: Option<u32>,
}

impl FieldLine {
    /// A reference to a table entry that was never seen.
    pub(super) const UNKNOWN: Self = Self { name: Name::Unknown, name_length: None, value: Value::Unknown, value_length: None };

    /// Reads a field of the static table.
    pub(super) fn from_static((name, value): (&str, &str)) -> Self {
        Self::of(name.as_bytes(), value.as_bytes())
    }

    /// Reads a field in plaintext.
    pub(in crate::http::h2) fn of(name: &[u8], value: &[u8]) -> Self {
        let known_name = if name.len() <= MAX_NAME { Name::read(name) } else { Name::OffList };
        let mut text = Text::default();
        text.begin(known_name.value_limit());
        text.extend(value);
        Self {
            name: known_name,
            name_length: u32::try_from(name.len()).ok(),
            value: Value::read(known_name, &text),
            value_length: Some(text.length()),
        }
    }

    /// Size in the dynamic table (RFC 7541 §4.1). An unknown length counts as 0, so the encoder's table may count more, never less.
    pub(super) fn size(&self) -> u64 {
        let lengths = [self.name_length, self.value_length];
        lengths.into_iter().flatten().map(u64::from).fold(32, u64::saturating_add)
    }
}

impl Name {
    /// Reads a complete name.
    pub(super) fn read(name: &[u8]) -> Self {
        match name {
            b":method" => Self::Method,
            b":path" => Self::Path,
            b":status" => Self::Status,
            [b':', ..] => Self::OtherPseudo,
            _ if name.eq_ignore_ascii_case(b"authorization") => Self::Authorization,
            _ if name.eq_ignore_ascii_case(b"traceparent") => Self::TraceParent,
            _ => HeaderName::of(name).map_or(Self::OffList, Self::Listed),
        }
    }

    /// How many bytes of the value are read.
    pub(super) fn value_limit(self) -> usize {
        match self {
            Self::Method => MAX_METHOD,
            Self::Path => MAX_TARGET,
            Self::Status => 3,
            Self::Authorization => MAX_AUTHORIZATION,
            Self::TraceParent => TraceParent::MAX_VALUE,
            Self::Listed(_) => MAX_VALUE,
            Self::OtherPseudo | Self::OffList | Self::Unknown => 0,
        }
    }
}

impl Value {
    /// Reduces the value of `name` to the part that may be kept.
    pub(super) fn read(name: Name, text: &Text) -> Self {
        match name {
            Name::Method => Self::Text(method::known(text.bytes()).as_bytes().into()),
            Name::Listed(_) => Self::Text(text.bytes().into()),
            Name::Path => text.complete().map_or(Self::Unknown, |path| Self::Target(Box::new(Target::parse(path)))),
            Name::Status => text.complete().and_then(status_code).map_or(Self::Unknown, Self::Status),
            Name::Authorization => Self::Identity(Box::new(Identity::from_authorization(text.bytes()))),
            Name::TraceParent => TraceParent::parse(text.bytes()).map_or(Self::Unknown, |valid| Self::TraceParent(Box::new(valid))),
            Name::OtherPseudo | Name::OffList | Name::Unknown => Self::NotKept,
        }
    }
}

fn status_code(text: &[u8]) -> Option<u16> {
    let digits = text.len() == 3 && text.iter().all(u8::is_ascii_digit);
    let code = str::from_utf8(text).ok()?.parse().ok()?;
    (digits && code >= 100).then_some(code)
}
