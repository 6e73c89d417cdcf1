//! The facts that a body yields.

use serde::{Deserialize, Serialize};

use crate::k8s::Status;

/// An object's identity and version, from its `metadata`.
///
/// A field is empty if the object does not have it. Strings are cut at [`ObjectRef::MAX_TEXT`].
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct ObjectRef {
    /// `metadata.namespace`; empty for cluster-scoped objects.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// `metadata.name`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// `metadata.uid`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// `metadata.resourceVersion`, as text: opaque to clients, a number in every existing API server.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
}

impl ObjectRef {
    /// Longest string kept of each field, in bytes.
    pub const MAX_TEXT: usize = 512;

    /// Approximate memory use, in bytes.
    pub fn memory(&self) -> usize {
        /// Allocator overhead of one string, in bytes.
        const EACH: usize = 16;
        let texts = [&self.namespace, &self.name, &self.uid, &self.resource_version];
        let lengths = texts.into_iter().filter(|text| !text.is_empty()).map(|text| text.len() + EACH);
        size_of::<Self>() + lengths.sum::<usize>()
    }
}

/// `metadata` of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListMeta {
    /// The revision that the list represents.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// Token for the next page; empty on the last one. Cut at [`ListMeta::MAX_CONTINUE`].
    #[serde(rename = "continue", skip_serializing_if = "String::is_empty")]
    pub continue_token: String,
    /// Number of items after this page, if the server reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_item_count: Option<i64>,
}

impl ListMeta {
    /// Longest token kept, in bytes.
    pub const MAX_CONTINUE: usize = 16 * 1024;
}

/// `type` of a watch event (k8s.io/apimachinery pkg/watch/watch.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum EventType {
    /// An object entered the watched set.
    Added,
    /// An object changed.
    Modified,
    /// An object left the watched set.
    Deleted,
    /// Only the resource version advanced.
    Bookmark,
    /// The watch failed; the object is a `Status`.
    Error,
    /// A type that no known version defines.
    Unknown,
}

impl EventType {
    /// The type for `word`, in the exact case that servers use.
    pub(super) fn of(word: &str) -> Self {
        match word {
            "ADDED" => Self::Added,
            "MODIFIED" => Self::Modified,
            "DELETED" => Self::Deleted,
            "BOOKMARK" => Self::Bookmark,
            "ERROR" => Self::Error,
            _ => Self::Unknown,
        }
    }
}

/// One event of a watch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchFrame {
    /// The kind of change.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// The object; for a `Table`, the object of its first row. A bookmark has only a resource version, and an `ERROR` has no field.
    pub object: ObjectRef,
    /// Whether a bookmark carries the annotation `k8s.io/initial-events-end: "true"`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub initial_events_end: bool,
    /// The `Status` of an `ERROR` event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Box<Status>>,
    /// Length of the frame in bytes after content decoding, from the end of the previous frame. In JSON, the newline between two
    /// frames counts toward the second; in protobuf, a frame's length prefix counts toward the frame. A frame is emitted as soon as
    /// its last byte is read.
    pub bytes: u64,
}

impl WatchFrame {
    /// Approximate memory use, in bytes.
    pub fn memory(&self) -> usize {
        let beside_object = size_of::<Self>() - size_of::<ObjectRef>();
        beside_object + self.object.memory() + self.status.as_ref().map_or(0, |status| status.memory())
    }
}

/// One fact of a body, in the order of the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// `kind` and `apiVersion` of the top-level object; in protobuf, those of its envelope. Emitted once both are read, or at the
    /// end of the object. Either may be empty.
    Kind {
        /// Such as `PodList`, `Table`, `Status`.
        kind: String,
        /// Such as `v1`, `meta.k8s.io/v1`.
        api_version: String,
    },
    /// The complete `metadata` of a list, once `items` (or `rows`) show that it is a list. In lists of custom resources, and in
    /// CBOR, it may come after the items.
    ListMeta(ListMeta),
    /// One complete element of `items`; of a Table, the `object` of one of its `rows`. Empty if it has no metadata, as in a Table
    /// with `includeObject=None`.
    Item(ObjectRef),
    /// `metadata` of a single object. Emitted at the end of the object, as a later `items` would make it a list.
    Object(ObjectRef),
    /// One complete watch event.
    Frame(WatchFrame),
    /// The body is a `Status`.
    Status(Box<Status>),
    /// The document is complete; never emitted for watches. In protobuf, only the end of the body shows it. Only a
    /// [`Fact::Malformed`] may follow, for garbage or a wrong checksum.
    Complete,
    /// The body cannot be parsed from here on, and no further facts follow.
    Malformed {
        /// Offset in the body, after content decoding.
        at: u64,
        /// The error, in words.
        what: &'static str,
    },
}
