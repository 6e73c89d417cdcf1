//! The trigger of a storm, inferred from the causes of its relists.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::reflector::{RelistCause, Stale};

/// The event that set off a storm, as most of its relists show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The API server refused connections, or its caches were reset.
    ApiServerRestart,
    /// The revisions to watch from were gone, and no restart was observed.
    MassExpiry,
    /// Connections broke, and the server did not refuse connections.
    Network,
    /// The server refused watches or lists, or ended them with errors: it is overloaded, or a part of it has failed.
    ServerErrors,
    /// Most relists show no trigger, or no trigger has a majority.
    Unknown,
}

/// Number of relists per trigger that they show.
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

    /// The trigger that more than half of the relists show.
    pub(super) fn trigger(&self) -> Trigger {
        let majority = self.by_trigger.iter().find(|(_, votes)| votes.saturating_mul(2) > self.all);
        majority.map_or(Trigger::Unknown, |(trigger, _)| *trigger)
    }
}

fn vote(cause: RelistCause, server_refused: bool) -> Trigger {
    match cause {
        _ if server_refused => Trigger::ApiServerRestart,
        // A server with a lower revision than its clients was restored, or has just started.
        RelistCause::Expired { because: Stale::CacheReset }
        | RelistCause::RefusedMisread
        | RelistCause::TooLargeResourceVersion => Trigger::ApiServerRestart,
        RelistCause::Expired {
            because: Stale::WindowPassed | Stale::BookmarksNotRequested | Stale::NoBookmarks | Stale::ClientStalled | Stale::Unknown,
        }
        | RelistCause::ListExpired
        | RelistCause::ContinueExpired => Trigger::MassExpiry,
        RelistCause::StreamReset | RelistCause::ConnectionLost | RelistCause::VeryShortWatch => Trigger::Network,
        RelistCause::WatchError { .. } | RelistCause::WatchRefused { .. } | RelistCause::TooManyRequests => Trigger::ServerErrors,
        RelistCause::ClosedByForce
        | RelistCause::NewProcess
        | RelistCause::Rebuilt
        | RelistCause::WatchWithoutRevision
        | RelistCause::Unknown { .. } => Trigger::Unknown,
    }
}

/// The recommended change if neither a trigger nor a finding about a member names one.
pub(crate) const FIX_CAUSES: &str = "Fix the causes of the relists: each transfers every object again.";

impl Trigger {
    /// The recommended change if no finding about a member names one.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::ApiServerRestart => {
                "Let the clients resume their watches: request bookmarks (allowWatchBookmarks=true), and use client-go 1.16 or later. \
                 Relists after a reset of the watch cache are unavoidable."
            }
            Self::MassExpiry => {
                "Request bookmarks (allowWatchBookmarks=true), so that the resource versions of quiet watches advance; then look \
                 for clients that stopped reading."
            }
            Self::Network => {
                "Let the clients resume their watches when a connection is lost, as client-go does; then find out what cut it: a \
                 proxy or load balancer in front of the API server, or its idle timeout."
            }
            Self::ServerErrors => {
                "Find out why the API server refused watches or lists: see its log, and the priority levels that reject requests."
            }
            Self::Unknown => FIX_CAUSES,
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
