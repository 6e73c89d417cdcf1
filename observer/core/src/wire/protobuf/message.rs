//! The messages whose content is read, and the meaning of their fields.
//!
//! The field numbers are those of kubernetes/apimachinery `pkg/runtime/generated.proto` and `pkg/apis/meta/v1/generated.proto`
//! (1.16 to 1.36), and of every `generated.proto` of kubernetes/api. Every type that can be listed has its metadata in field 1, and
//! every list its items in field 2. A field with a member name has the meaning that it has in JSON.

/// A message whose content is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// `meta.v1.WatchEvent`.
    WatchEvent,
    /// `runtime.RawExtension`.
    RawExtension,
    /// `runtime.Unknown`.
    Unknown,
    /// `runtime.TypeMeta`.
    TypeMeta,
    /// Any list.
    List,
    /// Any object that is not a list.
    Object,
    /// `meta.v1.Status`.
    Status,
    /// `meta.v1.ListMeta`.
    ListMeta,
    /// `meta.v1.ObjectMeta`.
    ObjectMeta,
    /// One entry of a map of strings: a key and its value.
    MapEntry,
    /// `meta.v1.StatusDetails`.
    StatusDetails,
    /// `meta.v1.StatusCause`.
    StatusCause,
}

/// The meaning of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A field that is not read.
    Nothing,
    /// A string or a number that has this name in JSON.
    Scalar(&'static [u8]),
    /// A message that has this name in JSON; if that is an array, one of its elements.
    Member(&'static [u8], Message),
    /// A further part of the same object, without a value of its own in JSON.
    More(Message),
    /// An object in its envelope.
    Envelope,
    /// The content of the envelope. The envelope's kind, which comes first, determines the message.
    Content,
    /// An encoding or media type of the content: unless it is empty, the content is not protobuf.
    Encoding,
    /// The key of a map's entry.
    Key,
    /// The value of a map's entry.
    Value,
}

impl Message {
    /// The meaning of the field with this number.
    pub(super) const fn part(self, number: u64) -> Part {
        match self {
            Self::WatchEvent => match number {
                1 => Part::Scalar(b"type"),
                2 => Part::Member(b"object", Self::RawExtension),
                _ => Part::Nothing,
            },
            Self::RawExtension => match number {
                1 => Part::Envelope,
                _ => Part::Nothing,
            },
            Self::Unknown => match number {
                1 => Part::More(Self::TypeMeta),
                2 => Part::Content,
                3 | 4 => Part::Encoding,
                _ => Part::Nothing,
            },
            Self::TypeMeta => match number {
                1 => Part::Scalar(b"apiVersion"),
                2 => Part::Scalar(b"kind"),
                _ => Part::Nothing,
            },
            Self::List => match number {
                1 => Part::Member(b"metadata", Self::ListMeta),
                2 => Part::Member(b"items", Self::Object),
                _ => Part::Nothing,
            },
            Self::Object => match number {
                1 => Part::Member(b"metadata", Self::ObjectMeta),
                _ => Part::Nothing,
            },
            Self::Status => match number {
                1 => Part::Member(b"metadata", Self::ListMeta),
                2 => Part::Scalar(b"status"),
                3 => Part::Scalar(b"message"),
                4 => Part::Scalar(b"reason"),
                5 => Part::Member(b"details", Self::StatusDetails),
                6 => Part::Scalar(b"code"),
                _ => Part::Nothing,
            },
            Self::ListMeta => match number {
                2 => Part::Scalar(b"resourceVersion"),
                3 => Part::Scalar(b"continue"),
                4 => Part::Scalar(b"remainingItemCount"),
                _ => Part::Nothing,
            },
            Self::ObjectMeta => match number {
                1 => Part::Scalar(b"name"),
                3 => Part::Scalar(b"namespace"),
                5 => Part::Scalar(b"uid"),
                6 => Part::Scalar(b"resourceVersion"),
                12 => Part::Member(b"annotations", Self::MapEntry),
                _ => Part::Nothing,
            },
            Self::MapEntry => match number {
                1 => Part::Key,
                2 => Part::Value,
                _ => Part::Nothing,
            },
            Self::StatusDetails => match number {
                4 => Part::Member(b"causes", Self::StatusCause),
                5 => Part::Scalar(b"retryAfterSeconds"),
                _ => Part::Nothing,
            },
            Self::StatusCause => match number {
                1 => Part::Scalar(b"reason"),
                2 => Part::Scalar(b"message"),
                3 => Part::Scalar(b"field"),
                _ => Part::Nothing,
            },
        }
    }

    /// The message for objects of this kind; `None` if the kind is empty.
    pub(super) fn of_kind(kind: &str) -> Option<Self> {
        match kind {
            "" => None,
            "Status" => Some(Self::Status),
            list if list.ends_with("List") => Some(Self::List),
            _ => Some(Self::Object),
        }
    }
}
