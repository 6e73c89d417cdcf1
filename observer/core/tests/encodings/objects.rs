//! The test objects, and the facts that a decoder must find in them.

use observer_core::k8s::{Status, StatusCause};
use observer_core::wire::{EventType, Fact, ListMeta, ObjectRef, WatchFrame};

use crate::encoders::Encoding;

/// The kind of the objects in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Pod,
    Secret,
    ConfigMap,
    /// `PartialObjectMetadata`.
    Metadata,
    /// A custom resource.
    Widget,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pod => "Pod",
            Self::Secret => "Secret",
            Self::ConfigMap => "ConfigMap",
            Self::Metadata => "PartialObjectMetadata",
            Self::Widget => "Widget",
        }
    }

    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::Pod | Self::Secret | Self::ConfigMap => "v1",
            Self::Metadata => "meta.k8s.io/v1",
            Self::Widget => "example.com/v1",
        }
    }
}

/// A list, or the initial state of a watch.
#[derive(Clone, Debug)]
pub(crate) struct List {
    pub kind: Kind,
    pub meta: ListMeta,
    pub items: Vec<ObjectRef>,
}

impl List {
    pub(crate) fn new(kind: Kind, count: usize) -> Self {
        let item = |number: usize| ObjectRef {
            namespace: if number % 7 == 3 { String::new() } else { format!("shop-{}", number % 5) },
            name: format!("checkout-{number}"),
            uid: format!("0b1f6c1e-5a55-4a0e-9d3c-{number:012}"),
            resource_version: (1000 + number).to_string(),
        };
        let meta = ListMeta {
            resource_version: "987654".into(),
            continue_token: if count > 1 { "token".repeat(100) } else { String::new() },
            remaining_item_count: (count > 1).then_some(1_234_567),
        };
        Self { kind, meta, items: (0..count).map(item).collect() }
    }

    /// Every encoding, except protobuf for custom resources.
    pub(crate) fn encodings(&self) -> Vec<Encoding> {
        Encoding::ALL.into_iter().filter(|encoding| self.kind != Kind::Widget || *encoding != Encoding::Protobuf).collect()
    }

    pub(crate) fn facts(&self) -> Vec<Fact> {
        let kind = Fact::Kind { kind: format!("{}List", self.kind.name()), api_version: self.kind.api_version().into() };
        let items = self.items.iter().cloned().map(Fact::Item);
        [kind, Fact::ListMeta(self.meta.clone())].into_iter().chain(items).chain([Fact::Complete]).collect()
    }

    /// An event for each item, with the types in turn, then a bookmark and an error. `bytes` is left at 0.
    pub(crate) fn frames(&self) -> Vec<WatchFrame> {
        let frame = |event_type, object| WatchFrame { event_type, object, initial_events_end: false, status: None, bytes: 0 };
        let of_items = self.items.iter().enumerate().map(|(index, item)| frame(event_type(index), item.clone()));
        let bookmark = ObjectRef { resource_version: self.meta.resource_version.clone(), ..ObjectRef::default() };
        let bookmark = WatchFrame { initial_events_end: true, ..frame(EventType::Bookmark, bookmark) };
        let error = WatchFrame { status: Some(Box::new(failure())), ..frame(EventType::Error, ObjectRef::default()) };
        of_items.chain([bookmark, error]).collect()
    }
}

pub(crate) fn event_type(index: usize) -> EventType {
    [EventType::Added, EventType::Modified, EventType::Deleted][index % 3]
}

/// A 504 `Status`, as kube-apiserver sends it.
pub(crate) fn failure() -> Status {
    Status {
        status: "Failure".into(),
        message: "Timeout: Too large resource version: 900, current: 812".into(),
        reason: "Timeout".into(),
        code: 504,
        retry_after_seconds: Some(1),
        causes: vec![StatusCause {
            reason: "ResourceVersionTooLarge".into(),
            message: "Too large resource version".into(),
            field: String::new(),
        }],
        continue_token: "token".into(),
    }
}
