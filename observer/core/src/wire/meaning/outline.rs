//! The data kept of one object while it is read.

use std::fmt;

use super::value_path::Field;
use crate::k8s::{Status, StatusCause};
use crate::wire::{ListMeta, ObjectRef};

/// The top-level data of an object, which may turn out to be a list, a single object or a `Status`.
#[derive(Default)]
pub(super) struct Outline {
    /// `kind`; `None` until it is read.
    pub kind: Option<String>,
    /// `apiVersion`; `None` until it is read.
    pub api_version: Option<String>,
    /// The identity of a single object. A list has only the resource version.
    pub object: ObjectRef,
    /// `metadata.continue`.
    pub continue_token: String,
    /// `metadata.remainingItemCount`.
    pub remaining_item_count: Option<i64>,
    /// Whether `metadata`, or that of the first row, has the annotation that ends the initial events.
    pub initial_events_end: bool,
    /// The members of a `Status`, except its `metadata`.
    status: Status,
}

/// Hides the members of a `Status`: until its kind is known, they may be those of any object, with any content.
impl fmt::Debug for Outline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Outline").field("kind", &self.kind).field("object", &self.object).finish_non_exhaustive()
    }
}

impl Outline {
    /// Notes a string at the top of the object, in its metadata or in its details.
    pub(super) fn note_text(&mut self, field: Field, text: &str) {
        match field {
            Field::Kind => self.kind = Some(text.to_owned()),
            Field::ApiVersion => self.api_version = Some(text.to_owned()),
            Field::Namespace | Field::Name | Field::Uid | Field::ResourceVersion => note_identity(&mut self.object, field, text),
            Field::Continue => replace(&mut self.continue_token, text),
            Field::InitialEventsEnd => self.initial_events_end |= text == "true",
            Field::Status => replace(&mut self.status.status, text),
            Field::Message => replace(&mut self.status.message, text),
            Field::Reason => replace(&mut self.status.reason, text),
            Field::CauseReason => self.note_cause(|cause| &mut cause.reason, text),
            Field::CauseMessage => self.note_cause(|cause| &mut cause.message, text),
            Field::CausePath => self.note_cause(|cause| &mut cause.field, text),
            Field::Type | Field::RemainingItemCount | Field::Code | Field::RetryAfterSeconds => {}
        }
    }

    /// Notes a number at the top of the object, in its metadata or in its details. A number out of range counts as absent.
    pub(super) fn note_number(&mut self, field: Field, number: i64) {
        if field == Field::RemainingItemCount {
            self.remaining_item_count = Some(number);
        } else if field == Field::Code {
            self.status.code = u16::try_from(number).unwrap_or_default();
        } else if field == Field::RetryAfterSeconds {
            // Go omits a zero from JSON, and writes it in protobuf.
            self.status.retry_after_seconds = u32::try_from(number).ok().filter(|seconds| *seconds > 0);
        }
    }

    /// Adds a cause; `false` if the maximum is reached.
    pub(super) fn begin_cause(&mut self) -> bool {
        let room = self.status.causes.len() < Status::MAX_CAUSES;
        if room {
            self.status.causes.push(StatusCause::default());
        }
        room
    }

    /// Whether this is a `Status` of the API itself, not of a custom resource.
    pub(super) fn is_status(&self) -> bool {
        self.kind() == "Status" && (matches!(self.api_version(), "v1" | "") || self.is_meta())
    }

    /// Whether this is a `Table` of the API itself.
    pub(super) fn is_table(&self) -> bool {
        self.kind() == "Table" && self.is_meta()
    }

    /// Whether the kind is that of a list.
    pub(super) fn is_list_by_name(&self) -> bool {
        self.is_table() || self.kind().ends_with("List")
    }

    /// `kind`, empty when absent.
    pub(super) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or_default()
    }

    /// `apiVersion`, empty when absent.
    pub(super) fn api_version(&self) -> &str {
        self.api_version.as_deref().unwrap_or_default()
    }

    /// `metadata`, as that of a list.
    pub(super) fn list_meta(&self) -> ListMeta {
        ListMeta {
            resource_version: self.object.resource_version.clone(),
            continue_token: self.continue_token.clone(),
            remaining_item_count: self.remaining_item_count,
        }
    }

    /// The complete `Status`. Its token is cut like all its strings; a real one is shorter.
    pub(super) fn take_status(&mut self) -> Status {
        let mut continue_token = std::mem::take(&mut self.continue_token);
        continue_token.truncate(continue_token.floor_char_boundary(Status::MAX_TEXT));
        Status { continue_token, ..std::mem::take(&mut self.status) }
    }

    fn is_meta(&self) -> bool {
        self.api_version().starts_with("meta.k8s.io/")
    }

    fn note_cause(&mut self, part: impl Fn(&mut StatusCause) -> &mut String, text: &str) {
        if let Some(cause) = self.status.causes.last_mut() {
            replace(part(cause), text);
        }
    }
}

/// Notes a part of an identity.
pub(super) fn note_identity(object: &mut ObjectRef, field: Field, text: &str) {
    if field == Field::Namespace {
        replace(&mut object.namespace, text);
    } else if field == Field::Name {
        replace(&mut object.name, text);
    } else if field == Field::Uid {
        replace(&mut object.uid, text);
    } else if field == Field::ResourceVersion {
        replace(&mut object.resource_version, text);
    }
}

/// Whether all parts of the identity are present.
pub(super) fn is_full(object: &ObjectRef) -> bool {
    [&object.namespace, &object.name, &object.uid, &object.resource_version].into_iter().all(|part| !part.is_empty())
}

/// Allocates exactly as much as is needed, which is faster: there is hardly ever an old text whose memory could be reused.
fn replace(old: &mut String, new: &str) {
    *old = String::from(new);
}
