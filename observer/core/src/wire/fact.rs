//! The facts that a body yields.

use serde::{Deserialize, Serialize};

use crate::k8s::Status;

/// An object's identity and version, from its `metadata`.
///
/// Every field is empty when the object does not carry it. Strings are cut at [`ObjectRef::MAX_TEXT`].
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
    /// `metadata.resourceVersion`, as text: opaque to clients, a number in every API server that exists.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
}

impl ObjectRef {
    /// Longest string kept of each field, in bytes.
    pub const MAX_TEXT: usize = 512;

    /// About how much memory it takes, in bytes.
    pub fn memory(&self) -> usize {
        /// What an allocator adds to a text.
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
    /// Items left behind this page, when the server says so.
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
    /// An object came into the watched set.
    Added,
    /// An object changed.
    Modified,
    /// An object left the watched set.
    Deleted,
    /// Only the resource version moved on.
    Bookmark,
    /// The watch failed; the object is a `Status`.
    Error,
    /// A type that no version read so far defines.
    Unknown,
}

impl EventType {
    /// The type that `word` names, in the exact case that servers use.
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
    /// What happened.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// The object; of a bookmark only its resource version, of an `ERROR` nothing. Of a `Table` its (first) row's object.
    pub object: ObjectRef,
    /// Whether a bookmark carries the annotation `k8s.io/initial-events-end: "true"`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub initial_events_end: bool,
    /// The `Status` of an `ERROR` event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Box<Status>>,
    /// Bytes of the frame, as decoded (after content coding), from the end of the one before: so in JSON the newline between two frames
    /// counts to the second, and in protobuf its length in front to the frame. A frame is told as soon as its last byte is there.
    pub bytes: u64,
}

impl WatchFrame {
    /// About how much memory it takes, in bytes.
    pub fn memory(&self) -> usize {
        let beside_object = size_of::<Self>() - size_of::<ObjectRef>();
        beside_object + self.object.memory() + self.status.as_ref().map_or(0, |status| status.memory())
    }
}

/// One thing that a body says, in the order in which the bytes say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// `kind` and `apiVersion` of the top-level object, in protobuf of its envelope, as soon as both (or the end of the object) are there. Either may be empty.
    Kind {
        /// Such as `PodList`, `Table`, `Status`.
        kind: String,
        /// Such as `v1`, `meta.k8s.io/v1`.
        api_version: String,
    },
    /// A list's `metadata` object is complete, and `items` (or `rows`) show that it is a list's. In lists of custom resources, and in
    /// CBOR, it may come after the items.
    ListMeta(ListMeta),
    /// One element of `items` (or of a Table's `rows`: its `object`) is complete. Empty if it carries no metadata, as the rows of a
    /// Table with `includeObject=None`.
    Item(ObjectRef),
    /// `metadata` of a single object; told at its end, as a later `items` would make it a list's.
    Object(ObjectRef),
    /// A watch event is complete.
    Frame(WatchFrame),
    /// The body is a `Status`.
    Status(Box<Status>),
    /// The document is complete, in protobuf at the end of the body, which alone says so; for watches, never. Only a [`Fact::Malformed`] may follow: garbage, or a wrong checksum.
    Complete,
    /// From here on the body is not understood; nothing more will be said about it.
    Malformed {
        /// Offset in the body after content coding.
        at: u64,
        /// What is wrong, in words.
        what: &'static str,
    },
}
