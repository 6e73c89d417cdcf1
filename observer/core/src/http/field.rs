//! A value that may be absent, or present but not knowable.

/// What is known of a field that a message may or may not carry.
///
/// `Unknown` arises only where decoding began in the middle of a connection, or after a loss: HPACK then refers to table
/// entries that were never seen. It is never guessed at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Field<T> {
    /// The message does not carry the field.
    #[default]
    Absent,
    /// The field's value.
    Known(T),
    /// The field may be there; its value cannot be known.
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

    /// The same with the value borrowed.
    pub fn as_ref(&self) -> Field<&T> {
        match self {
            Self::Absent => Field::Absent,
            Self::Known(value) => Field::Known(value),
            Self::Unknown => Field::Unknown,
        }
    }
}
