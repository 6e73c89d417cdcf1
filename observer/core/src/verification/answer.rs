//! The facts of an answer that show which layer gave it.

use serde::Serialize;

use crate::wire::{EventType, Fact};

/// One answer to a row's request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ObservedAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The revision of the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Number of items in the list.
    pub items: u64,
    /// Number of items after this page, as the page states (`remainingItemCount`).
    #[serde(skip)]
    pub remaining: u64,
    /// The continue token of the next page.
    #[serde(skip)]
    pub continue_token: Option<String>,
    /// The newest revision of an item.
    #[serde(skip)]
    pub newest_item: Option<u64>,
    /// Namespace and name of the first item.
    #[serde(skip)]
    pub first_item: Option<(String, String)>,
    /// Number of watch events about objects.
    pub events: u64,
    /// The code of a watch's `ERROR` event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_event: Option<u16>,
    /// Message of the `Status` in a refusal or an `ERROR` event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl ObservedAnswer {
    /// An answer whose body was not read yet.
    pub fn of_status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// Takes a fact of the body.
    pub fn note(&mut self, fact: &Fact) {
        match fact {
            Fact::ListMeta(meta) => {
                self.revision = meta.resource_version.parse().ok();
                self.remaining = meta.remaining_item_count.and_then(|count| count.try_into().ok()).unwrap_or(0);
                self.continue_token = Some(meta.continue_token.clone()).filter(|token| !token.is_empty());
            }
            Fact::Item(item) => {
                self.items += 1;
                self.newest_item = self.newest_item.max(item.resource_version.parse().ok());
                self.first_item.get_or_insert_with(|| (item.namespace.clone(), item.name.clone()));
            }
            Fact::Status(status) => self.message = Some(status.message.clone()),
            Fact::Frame(frame) if frame.event_type == EventType::Error => {
                self.error_event = Some(frame.status.as_ref().map_or(0, |status| status.code));
                self.message = frame.status.as_ref().map(|status| status.message.clone());
            }
            Fact::Frame(frame) => self.events += u64::from(frame.event_type != EventType::Bookmark),
            Fact::Kind { .. } | Fact::Object(_) | Fact::Complete | Fact::Malformed { .. } => {}
        }
    }
}
