//! What sets a storm off.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::reflector::{RelistCause, Stale};

/// What set a storm off, by what most of its members saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The API server refused connections, or its caches began anew.
    ApiServerRestart,
    /// The revisions to watch from were gone, and no restart was seen.
    MassExpiry,
    /// Connections broke, and no server refused.
    Network,
    /// The server refused watches or lists, or ended them with errors: it has too much to do, or a part of it is broken.
    ServerErrors,
    /// Most members saw something else, or nothing.
    Unknown,
}

/// How many members saw what.
#[derive(Clone, Debug, Default)]
pub(super) struct Votes {
    by_trigger: BTreeMap<Trigger, u64>,
    all: u64,
}

impl Votes {
    pub(super) const fn new() -> Self {
        Self { by_trigger: BTreeMap::new(), all: 0 }
    }

    pub(super) fn count(&mut self, cause: RelistCause, server_refused: bool) {
        let vote = self.by_trigger.entry(vote(cause, server_refused)).or_default();
        *vote = vote.saturating_add(1);
        self.all = self.all.saturating_add(1);
    }

    /// What more than half of them saw.
    pub(super) fn trigger(&self) -> Trigger {
        let majority = self.by_trigger.iter().find(|(_, votes)| votes.saturating_mul(2) > self.all);
        majority.map_or(Trigger::Unknown, |(trigger, _)| *trigger)
    }
}

fn vote(cause: RelistCause, server_refused: bool) -> Trigger {
    match cause {
        _ if server_refused => Trigger::ApiServerRestart,
        // A server that knows less than its clients has been set back, or has just begun.
        RelistCause::Expired { because: Stale::CacheRestarted }
        | RelistCause::RefusedMisread
        | RelistCause::TooLargeResourceVersion => Trigger::ApiServerRestart,
        RelistCause::Expired {
            because: Stale::WindowPassed | Stale::BookmarksNotAsked | Stale::NoBookmarks | Stale::ClientStalled | Stale::Unknown,
        }
        | RelistCause::ListExpired
        | RelistCause::ContinueExpired => Trigger::MassExpiry,
        RelistCause::StreamReset | RelistCause::ConnectionLost | RelistCause::VeryShortWatch => Trigger::Network,
        RelistCause::WatchError { .. } | RelistCause::WatchRefused { .. } | RelistCause::TooManyRequests => Trigger::ServerErrors,
        RelistCause::NewProcess | RelistCause::Rebuilt | RelistCause::WatchWithoutRevision | RelistCause::Unknown { .. } => {
            Trigger::Unknown
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::ApiServerRestart => "api-server-restart",
            Self::MassExpiry => "mass-expiry",
            Self::Network => "network",
            Self::ServerErrors => "server-errors",
            Self::Unknown => "unknown",
        })
    }
}
