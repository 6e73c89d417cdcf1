//! What reflectors tell as it happens.

use serde::Serialize;

use super::cause::RelistCause;
use super::clients::ClientId;
use super::identity::ReflectorId;
use super::moment::Moment;
use super::versions::Repeats;
use super::watch_end::WatchEnd;
use crate::exchange::{Client, Shape, of_structure};
use crate::observation::Blockage;
use crate::routing::{Certainty, ServedFrom};
use crate::time::Timestamp;

/// Something that a reflector did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// It has its first list, and watches.
    InitialList(Box<ListTold>),
    /// It begins to list again.
    RelistBegan(Box<RelistBegan>),
    /// It has listed again.
    Relist(Box<ListTold>),
    /// It watches again from where it was, without a list.
    Resumed(Box<ResumeTold>),
    /// It asks for a revision that the server does not reach, again and again.
    Stuck(Box<StuckTold>),
    /// It does not read, so that the server cannot send.
    Stalled(Box<StallTold>),
    /// It reads again, or the response is over.
    StallEnded(Box<StallTold>),
}

/// A reflector that begins to list again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RelistBegan {
    /// When.
    pub at: Timestamp,
    /// Which.
    pub reflector: ReflectorId,
    /// The number of its client.
    pub client_id: ClientId,
    /// Its client.
    pub client: Client,
    /// What it lists.
    #[serde(flatten)]
    pub shape: Shape,
    /// Why.
    pub cause: RelistCause,
    /// Whether the API server refused connections since it last watched.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub server_refused: bool,
}

impl RelistBegan {
    /// About how much memory it takes, in bytes.
    pub(crate) fn memory(&self) -> usize {
        of_structure::<Self>() + self.client.memory() + self.shape.memory()
    }
}

/// A whole list of a reflector: what it cost, and what of it was news.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListTold {
    /// When it was first asked for.
    pub at: Timestamp,
    /// When it was whole.
    pub ended_at: Timestamp,
    /// By which reflector.
    pub reflector: ReflectorId,
    /// Of which client.
    pub client: Client,
    /// What it lists.
    #[serde(flatten)]
    pub shape: Shape,
    /// Why it listed again; nothing of a first list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<RelistCause>,
    /// What led to it, in order: all since its last watch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Moment>,
    /// Requests for it: pages, and repetitions of what failed.
    pub requests: u64,
    /// Items of all pages.
    pub items: u64,
    /// Bytes of all answers, content coding included.
    pub bytes: u64,
    /// Which layer answered the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served_from: Option<ServedFrom>,
    /// By which rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// How sure that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certainty: Option<Certainty>,
    /// From the first request to the end, in microseconds.
    pub took_us: u64,
    /// How many of its items the reflector had in the very version: spurious updates.
    pub repeats: Repeats,
    /// The status with which a streaming list was refused before, so that this list took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_after: Option<u16>,
}

/// A watch that goes on where the one before ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResumeTold {
    /// When it was granted.
    pub at: Timestamp,
    /// Of which reflector.
    pub reflector: ReflectorId,
    /// Of which client.
    pub client: Client,
    /// What it watches.
    #[serde(flatten)]
    pub shape: Shape,
    /// From which revision on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<u64>,
    /// How the watch before ended.
    pub after: WatchEnd,
    /// Attempts between them that came to nothing.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub attempts: u64,
    /// From the end of the watch before until it was asked for, in microseconds.
    pub paused_us: u64,
}

/// A reflector that asks in vain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StuckTold {
    /// When that became clear.
    pub at: Timestamp,
    /// Which reflector.
    pub reflector: ReflectorId,
    /// Of which client.
    pub client: Client,
    /// What it lists.
    #[serde(flatten)]
    pub shape: Shape,
    /// The revision that it asks for.
    pub resource_version: u64,
    /// The revision that the API server has, as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<u64>,
    /// Since when.
    pub since: Timestamp,
    /// How often it was refused.
    pub refusals: u64,
}

/// A reflector that does not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StallTold {
    /// When that is told.
    pub at: Timestamp,
    /// Which reflector.
    pub reflector: ReflectorId,
    /// Of which client.
    pub client: Client,
    /// What it lists or watches.
    #[serde(flatten)]
    pub shape: Shape,
    /// What keeps the server from sending.
    pub by: Blockage,
    /// Since when.
    pub since: Timestamp,
    /// Until `at`, in microseconds.
    pub lasted_us: u64,
}
