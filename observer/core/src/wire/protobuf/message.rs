//! The messages whose inside is read, and what their fields are.
//!
//! The numbers are those of kubernetes/apimachinery `pkg/runtime/generated.proto` and `pkg/apis/meta/v1/generated.proto` (1.16 to 1.36),
//! and of every `generated.proto` of kubernetes/api: whatever can be listed has its metadata in field 1, and a list its items in field 2.
//! Under a member name the field's meaning is that of JSON.

/// A message whose inside is read.
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
    /// Any object that is no list.
    Object,
    /// `meta.v1.Status`.
    Status,
    /// `meta.v1.ListMeta`.
    ListMeta,
    /// `meta.v1.ObjectMeta`.
    ObjectMeta,
    /// A key and its value of a map of strings.
    MapEntry,
    /// `meta.v1.StatusDetails`.
    StatusDetails,
    /// `meta.v1.StatusCause`.
    StatusCause,
}

/// What a field of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Nothing that is read.
    Nothing,
    /// A string or a number that JSON has under this name.
    Scalar(&'static [u8]),
    /// A message that JSON has under this name; one of several, if it is an array there.
    Member(&'static [u8], Message),
    /// More of the same object, for which JSON has no value of its own.
    More(Message),
    /// An object in its envelope.
    Envelope,
    /// What the envelope is around. Its kind, told before, says which message.
    Content,
    /// What makes the content something else than protobuf, if it is there.
    Encoding,
    /// The key of a map's entry.
    Key,
    /// The value of a map's entry.
    Value,
}

impl Message {
    /// What stands under `number`.
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

    /// The message that an object of this kind is; `None` for no kind.
    pub(super) fn of_kind(kind: &str) -> Option<Self> {
        match kind {
            "" => None,
            "Status" => Some(Self::Status),
            list if list.ends_with("List") => Some(Self::List),
            _ => Some(Self::Object),
        }
    }
}
