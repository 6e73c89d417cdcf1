//! A value that may be absent, or present but unknown.

/// A field that a message may carry, as far as it is known.
///
/// `Unknown` occurs if decoding began in the middle of a connection, or after a loss: HPACK then refers to table entries that were
/// never seen. It also stands for a value that is too long or malformed. An unknown value is never guessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Field<T> {
    /// The message does not carry the field.
    #[default]
    Absent,
    /// The field's value.
    Known(T),
    /// The message may carry the field; its value is unknown.
    Unknown,
}

impl<T> Field<T> {
    /// The value, when it is known.
    pub fn known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Absent | Self::Unknown => None,
        }
    }

    /// The same field, with the value borrowed.
    pub fn as_ref(&self) -> Field<&T> {
        match self {
            Self::Absent => Field::Absent,
            Self::Known(value) => Field::Known(value),
            Self::Unknown => Field::Unknown,
        }
    }
}
