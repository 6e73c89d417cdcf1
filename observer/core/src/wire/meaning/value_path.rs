//! The few values of a body whose content is read (its *interesting places*), and the fields read from them.
//!
//! Everything else in a body is skipped, so a `metadata` inside a `spec` is never examined. Member names are matched exactly, as
//! Go's encoder writes them.

use crate::k8s::Status;
use crate::wire::{ListMeta, ObjectRef};

/// The place of a value whose content is read. Each place has a single parent, so the last element alone stands for the complete
/// path.
///
/// ```text
/// Event                                 a watch event
/// └ Object                              a document, or the object of an event
///   ├ Metadata ─ Annotations
///   ├ Items ─ Item ─ ItemMetadata                      of a list
///   ├ Rows ─ Row ─ RowObject ─ RowMetadata ─ RowAnnotations   of a Table
///   └ Details ─ Causes ─ Cause                         of a Status
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wire) enum ValuePath {
    /// A watch event.
    Event,
    /// A document, or `object` of an event.
    Object,
    /// `metadata` of the object: an `ObjectMeta` or a `ListMeta`.
    Metadata,
    /// `metadata.annotations`.
    Annotations,
    /// `items` of a list.
    Items,
    /// An element of `items`.
    Item,
    /// `metadata` of an element of `items`.
    ItemMetadata,
    /// `rows` of a Table.
    Rows,
    /// An element of `rows`.
    Row,
    /// `object` of an element of `rows`.
    RowObject,
    /// `metadata` of a row's object.
    RowMetadata,
    /// `metadata.annotations` of a row's object.
    RowAnnotations,
    /// `details` of a Status.
    Details,
    /// `details.causes`.
    Causes,
    /// An element of `details.causes`.
    Cause,
}

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wire) enum Shape {
    /// Members in braces.
    Object,
    /// Elements in brackets.
    Array,
}

/// A string or a number that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wire) enum Field {
    /// `type` of an event.
    Type,
    /// `kind` of the object.
    Kind,
    /// `apiVersion` of the object.
    ApiVersion,
    /// `metadata.namespace`.
    Namespace,
    /// `metadata.name`.
    Name,
    /// `metadata.uid`.
    Uid,
    /// `metadata.resourceVersion`.
    ResourceVersion,
    /// `metadata.continue`.
    Continue,
    /// `metadata.remainingItemCount`.
    RemainingItemCount,
    /// The annotation `k8s.io/initial-events-end`, which ends the initial events.
    InitialEventsEnd,
    /// `status` of a Status: `Success` or `Failure`.
    Status,
    /// `message` of a Status.
    Message,
    /// `reason` of a Status.
    Reason,
    /// `code` of a Status.
    Code,
    /// `details.retryAfterSeconds`.
    RetryAfterSeconds,
    /// `details.causes[].reason`.
    CauseReason,
    /// `details.causes[].message`.
    CauseMessage,
    /// `details.causes[].field`.
    CausePath,
}

/// The part of a value that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wire) enum Interest {
    /// None: the value is skipped.
    Nothing,
    /// The text, if the value is a string.
    Text(Field),
    /// The number, if the value is one.
    Number(Field),
    /// The content, if the value has the shape of the place.
    Inside(ValuePath),
}

impl ValuePath {
    /// The place that contains this one.
    pub(in crate::wire) const fn parent(self) -> Option<Self> {
        match self {
            Self::Event => None,
            Self::Object => Some(Self::Event),
            Self::Metadata | Self::Items | Self::Rows | Self::Details => Some(Self::Object),
            Self::Annotations => Some(Self::Metadata),
            Self::Item => Some(Self::Items),
            Self::ItemMetadata => Some(Self::Item),
            Self::Row => Some(Self::Rows),
            Self::RowObject => Some(Self::Row),
            Self::RowMetadata => Some(Self::RowObject),
            Self::RowAnnotations => Some(Self::RowMetadata),
            Self::Causes => Some(Self::Details),
            Self::Cause => Some(Self::Causes),
        }
    }

    /// The form of the value at this place.
    pub(in crate::wire) fn shape(self) -> Shape {
        if self.element() == Interest::Nothing { Shape::Object } else { Shape::Array }
    }

    /// The part that is read of each element of an array; `Nothing` for an object.
    pub(in crate::wire) const fn element(self) -> Interest {
        match self {
            Self::Items => Interest::Inside(Self::Item),
            Self::Rows => Interest::Inside(Self::Row),
            Self::Causes => Interest::Inside(Self::Cause),
            Self::Event
            | Self::Object
            | Self::Metadata
            | Self::Annotations
            | Self::Item
            | Self::ItemMetadata
            | Self::Row
            | Self::RowObject
            | Self::RowMetadata
            | Self::RowAnnotations
            | Self::Details
            | Self::Cause => Interest::Nothing,
        }
    }

    /// The part that is read of the member `name` of an object.
    pub(in crate::wire) fn member(self, name: &[u8]) -> Interest {
        match self {
            Self::Event => in_event(name),
            Self::Object => in_object(name),
            Self::Metadata => match name {
                b"continue" => Interest::Text(Field::Continue),
                b"remainingItemCount" => Interest::Number(Field::RemainingItemCount),
                b"annotations" => Interest::Inside(Self::Annotations),
                _ => in_object_meta(name),
            },
            Self::RowMetadata => match name {
                b"annotations" => Interest::Inside(Self::RowAnnotations),
                _ => in_object_meta(name),
            },
            Self::ItemMetadata => in_object_meta(name),
            Self::Annotations | Self::RowAnnotations => match name {
                b"k8s.io/initial-events-end" => Interest::Text(Field::InitialEventsEnd),
                _ => Interest::Nothing,
            },
            Self::Item if name == b"metadata" => Interest::Inside(Self::ItemMetadata),
            Self::Row if name == b"object" => Interest::Inside(Self::RowObject),
            Self::RowObject if name == b"metadata" => Interest::Inside(Self::RowMetadata),
            Self::Details => in_details(name),
            Self::Cause => in_cause(name),
            Self::Item | Self::Row | Self::RowObject | Self::Items | Self::Rows | Self::Causes => Interest::Nothing,
        }
    }
}

fn in_event(name: &[u8]) -> Interest {
    match name {
        b"type" => Interest::Text(Field::Type),
        b"object" => Interest::Inside(ValuePath::Object),
        _ => Interest::Nothing,
    }
}

fn in_object(name: &[u8]) -> Interest {
    match name {
        b"kind" => Interest::Text(Field::Kind),
        b"apiVersion" => Interest::Text(Field::ApiVersion),
        b"metadata" => Interest::Inside(ValuePath::Metadata),
        b"items" => Interest::Inside(ValuePath::Items),
        b"rows" => Interest::Inside(ValuePath::Rows),
        b"status" => Interest::Text(Field::Status),
        b"message" => Interest::Text(Field::Message),
        b"reason" => Interest::Text(Field::Reason),
        b"code" => Interest::Number(Field::Code),
        b"details" => Interest::Inside(ValuePath::Details),
        _ => Interest::Nothing,
    }
}

fn in_object_meta(name: &[u8]) -> Interest {
    match name {
        b"namespace" => Interest::Text(Field::Namespace),
        b"name" => Interest::Text(Field::Name),
        b"uid" => Interest::Text(Field::Uid),
        b"resourceVersion" => Interest::Text(Field::ResourceVersion),
        _ => Interest::Nothing,
    }
}

fn in_details(name: &[u8]) -> Interest {
    match name {
        b"retryAfterSeconds" => Interest::Number(Field::RetryAfterSeconds),
        b"causes" => Interest::Inside(ValuePath::Causes),
        _ => Interest::Nothing,
    }
}

fn in_cause(name: &[u8]) -> Interest {
    match name {
        b"reason" => Interest::Text(Field::CauseReason),
        b"message" => Interest::Text(Field::CauseMessage),
        b"field" => Interest::Text(Field::CausePath),
        _ => Interest::Nothing,
    }
}

impl Field {
    /// Longest text kept, in bytes.
    pub(in crate::wire) const fn limit(self) -> usize {
        match self {
            Self::Continue => ListMeta::MAX_CONTINUE,
            Self::Status | Self::Message | Self::Reason | Self::CauseReason | Self::CauseMessage | Self::CausePath => {
                Status::MAX_TEXT
            }
            Self::Type
            | Self::Kind
            | Self::ApiVersion
            | Self::Namespace
            | Self::Name
            | Self::Uid
            | Self::ResourceVersion
            | Self::InitialEventsEnd
            | Self::RemainingItemCount
            | Self::Code
            | Self::RetryAfterSeconds => ObjectRef::MAX_TEXT,
        }
    }
}
