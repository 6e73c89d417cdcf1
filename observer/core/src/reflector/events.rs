//! The events that are emitted about reflectors, such as a relist, a resume or a stall.

use std::time::Duration;

use serde::Serialize;

use super::cause::RelistCause;
use super::identity::ReflectorId;
use super::moment::Moment;
use super::versions::Repeats;
use super::watch_end::WatchEnd;
use crate::exchange::{Client, ClientId, Shape, of_structure};
use crate::observation::{Blockage, ExchangeId};
use crate::quantity::Amount;
use crate::routing::{Certainty, ServedFrom};
use crate::time::Timestamp;

/// An event about a reflector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReflectorEvent {
    /// Its first list is complete, and it watches.
    InitialList(Box<ListEvent>),
    /// It started a relist.
    RelistBegan(Box<RelistBegan>),
    /// Its relist is complete.
    Relist(Box<ListEvent>),
    /// It resumed its watch, without a list.
    Resumed(Box<ResumeEvent>),
    /// It is stuck: it repeatedly asks for a revision that the server does not reach.
    Stuck(Box<StuckEvent>),
    /// It does not read, so the server cannot send.
    Stalled(Box<StallEvent>),
    /// It reads again, or the response ended.
    StallEnded(Box<StallEvent>),
    /// Its watches or lists are in trouble.
    TroubleBegan(Box<TroubleEvent>),
    /// The trouble is over.
    TroubleEnded(Box<TroubleEvent>),
    /// A complete list replaced a refused streaming list. Only counted.
    FellBack {
        /// Number of the reflector.
        reflector: ReflectorId,
    },
    /// A list has a lower revision than the reflector already had. Only counted.
    WentBack {
        /// Number of the reflector.
        reflector: ReflectorId,
    },
    /// An own write of the client arrived on its watch. Only counted.
    WriteArrived {
        /// Time since the end of the answer to the write; `None` if the event arrived before it.
        after: Option<Duration>,
    },
}

impl ReflectorEvent {
    /// The reflector that it is about; `None` if it is about a client.
    pub(crate) const fn reflector(&self) -> Option<ReflectorId> {
        Some(match self {
            Self::InitialList(list) | Self::Relist(list) => list.reflector,
            Self::RelistBegan(began) => began.reflector,
            Self::Resumed(resume) => resume.reflector,
            Self::Stuck(stuck) => stuck.reflector,
            Self::Stalled(stall) | Self::StallEnded(stall) => stall.reflector,
            Self::TroubleBegan(trouble) | Self::TroubleEnded(trouble) => trouble.reflector,
            Self::FellBack { reflector } | Self::WentBack { reflector } => *reflector,
            Self::WriteArrived { .. } => return None,
        })
    }
}

/// The start of a relist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RelistBegan {
    /// Time of the request.
    pub at: Timestamp,
    /// Number of the reflector that relists.
    pub reflector: ReflectorId,
    /// The number of its client.
    pub client_id: ClientId,
    /// The client, as its requests identify it.
    pub client: Client,
    /// Resource, objects and options of the list.
    #[serde(flatten)]
    pub shape: Shape,
    /// Cause of the relist.
    pub cause: RelistCause,
    /// Whether the API server refused connections since the reflector's last watch or list.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub server_refused: bool,
}

impl RelistBegan {
    /// Estimated memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        of_structure::<Self>() + self.client.memory() + self.shape.memory()
    }
}

/// A complete list of a reflector: its cost, and its share of unchanged objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListEvent {
    /// When it was first requested.
    pub at: Timestamp,
    /// When it was complete.
    pub ended_at: Timestamp,
    /// Number of the reflector.
    pub reflector: ReflectorId,
    /// The client, as its requests identify it.
    pub client: Client,
    /// Resource, objects and options of the list.
    #[serde(flatten)]
    pub shape: Shape,
    /// Cause of the relist; `None` for a first list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<RelistCause>,
    /// Moments that led to the relist, in order: all since the last delivery. Empty for a first list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Moment>,
    /// Number of requests, pages and retries included.
    pub requests: u64,
    /// Items of all pages.
    pub items: Amount,
    /// Response bytes with content coding. For a streaming list, bytes of its events without content coding.
    pub bytes: Amount,
    /// Layer that answered the first page; `None` without a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served_from: Option<ServedFrom>,
    /// Identifier of the verdict's rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// Certainty of the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certainty: Option<Certainty>,
    /// Time from the first request to the end, in microseconds.
    pub took_us: u64,
    /// Number of items, and of those that were unchanged since the last delivery: spurious updates.
    pub repeats: Repeats,
    /// Status or `ERROR` code with which a streaming list failed before this list replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_after: Option<u16>,
    /// The request for its first page.
    pub first_request: ExchangeId,
    /// The last watch before it; `None` if none was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch_before: Option<ExchangeId>,
    /// The request for the first page of the complete list before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_before: Option<ExchangeId>,
}

impl ListEvent {
    /// Estimated memory in bytes.
    pub(super) fn memory(&self) -> usize {
        let evidence: usize = self.evidence.iter().map(Moment::memory).sum();
        of_structure::<Self>() + self.client.memory() + self.shape.memory() + evidence
    }
}

/// A resume: a watch that continues from the last resource version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResumeEvent {
    /// When the server accepted the watch.
    pub at: Timestamp,
    /// Number of the reflector.
    pub reflector: ReflectorId,
    /// The client, as its requests identify it.
    pub client: Client,
    /// Resource, objects and options of the watch.
    #[serde(flatten)]
    pub shape: Shape,
    /// Revision from which it resumes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<u64>,
    /// How the previous watch ended.
    pub after: WatchEnd,
    /// Failed attempts between the two watches.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub attempts: u64,
    /// Time from the end of the previous watch to the request of this one, in microseconds.
    pub paused_us: u64,
}

/// A stuck reflector: it repeatedly asks for a revision that the server does not reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StuckEvent {
    /// Time of the refusal that made it stuck.
    pub at: Timestamp,
    /// Number of the reflector.
    pub reflector: ReflectorId,
    /// The client, as its requests identify it.
    pub client: Client,
    /// Resource, objects and options of the list.
    #[serde(flatten)]
    pub shape: Shape,
    /// The revision that it asks for.
    pub resource_version: u64,
    /// The API server's own revision; `None` if its last refusal does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<u64>,
    /// Time of the first refusal.
    pub since: Timestamp,
    /// Number of refusals.
    pub refusals: u64,
}

/// A trouble of a reflector that lasts: a deaf watch, for example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TroubleEvent {
    /// Time of the report.
    pub at: Timestamp,
    /// Number of the reflector.
    pub reflector: ReflectorId,
    /// The client, as its requests identify it.
    pub client: Client,
    /// Resource, objects and options of the list or watch.
    #[serde(flatten)]
    pub shape: Shape,
    /// The trouble. `docs/findings.md` has a section on each.
    pub trouble: &'static str,
    /// When it began.
    pub since: Timestamp,
    /// The evidence, in words and numbers.
    pub seen: String,
}

/// A stall: the reflector does not read, so the server cannot send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StallEvent {
    /// Time of the report.
    pub at: Timestamp,
    /// Number of the reflector.
    pub reflector: ReflectorId,
    /// The client, as its requests identify it.
    pub client: Client,
    /// Resource, objects and options of the list or watch.
    #[serde(flatten)]
    pub shape: Shape,
    /// The reason why the server cannot send.
    pub by: Blockage,
    /// Start of the stall.
    pub since: Timestamp,
    /// Length until `at`, in microseconds.
    pub lasted_us: u64,
}
