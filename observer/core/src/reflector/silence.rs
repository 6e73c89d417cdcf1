//! Open watches that deliver nothing although they should: deaf ones, and those that are ahead of the server.

use serde::Serialize;

use super::events::ReflectorEvent;
use super::servers::Server;
use super::signs::{ChangeSource, Sign, Silent};
use super::spells::Trouble;
use super::state::{Reflector, State};
use crate::exchange::Exchange;
use crate::routing::{ServedFrom, Verdict};
use crate::thresholds::{AHEAD_AFTER, DEAF_AFTER, EXAMINED_EVERY};
use crate::time::Timestamp;

/// An open watch that delivers nothing, and the proof that it is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Silence {
    /// When its last event or bookmark arrived, or when it was opened.
    pub since: Timestamp,
    /// Whether it had delivered anything before.
    pub delivered_before: bool,
    /// Why it should have delivered something, or why it cannot.
    pub because: SilenceProof,
}

/// The fact that proves that a silent watch is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum SilenceProof {
    /// Another client got a newer state of the resource, and this watch did not.
    Deaf {
        /// The newer state, as the other client got it.
        #[serde(flatten)]
        sign: Sign,
        /// Whether this watch should deliver it. False if its selector may exclude the objects, or if the sign came from etcd and
        /// the watch cache may lag.
        certain: bool,
        /// Whether this watch has a selector.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        selective: bool,
    },
    /// The watch asked for a revision that the server does not have.
    Ahead {
        /// The revision that it asked for.
        asked: u64,
        /// The newest revision of the server.
        current: u64,
    },
}

impl SilenceProof {
    const fn trouble(self) -> Trouble {
        match self {
            Self::Deaf { .. } => Trouble::DeafWatch,
            Self::Ahead { .. } => Trouble::WatchAhead,
        }
    }
}

impl Reflector {
    /// When to examine whether the open watch is silent without a reason, always later than `now`. `None` if no watch is open, or
    /// if it is already reported as deaf.
    pub(super) fn silence_due(&self, now: Timestamp) -> Option<Timestamp> {
        let State::Watching(watching) = &self.state else { return None };
        let opened = watching.opened?;
        if self.spells.is_ongoing(Trouble::DeafWatch) {
            return None;
        }
        if self.spells.is_ongoing(Trouble::WatchAhead) {
            return Some(now.plus(EXAMINED_EVERY));
        }
        let Some(latest) = watching.latest else {
            // Another client's list may show at any time that the server is behind.
            return Some(opened.plus(AHEAD_AFTER).max(now.plus(EXAMINED_EVERY)));
        };
        let due = self.silent_since(latest).plus(DEAF_AFTER);
        Some(if due > now { due } else { now.plus(EXAMINED_EVERY) })
    }

    /// Examines an open watch at `at`. `exchange` is its exchange, and `server` its API server.
    pub(super) fn examine_silence(
        &mut self,
        exchange: Option<&Exchange>,
        server: Option<&Server>,
        at: Timestamp,
        emit: &mut dyn FnMut(ReflectorEvent),
    ) {
        if self.is_reached_by(server) {
            return self.end_trouble(Trouble::WatchAhead, at, emit);
        }
        let Some(silence) = self.silence_at(exchange, server, at) else { return };
        match silence.because {
            SilenceProof::Deaf { .. } => self.deaf = Some(silence),
            SilenceProof::Ahead { .. } => self.ahead = Some(silence),
        }
        self.begin_trouble(silence.because.trouble(), silence.since, at, emit);
    }

    /// Whether the server has reached the revision of a watch that was ahead of it.
    fn is_reached_by(&self, server: Option<&Server>) -> bool {
        let Some(Silence { because: SilenceProof::Ahead { asked, .. }, .. }) = self.ahead else { return false };
        let current = server.and_then(|server| server.current(&self.key.resource));
        self.spells.is_ongoing(Trouble::WatchAhead) && current.is_some_and(|(current, _)| current >= asked)
    }

    /// Ends the silence: the watch delivers something, or is over.
    pub(super) fn end_silence(&mut self, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        if self.deaf.is_some() || self.ahead.is_some() {
            for trouble in [Trouble::DeafWatch, Trouble::WatchAhead] {
                self.end_trouble(trouble, at, emit);
            }
        }
    }

    /// The time from which a silence is measured. This is the later of two times: `latest`, when something was last delivered, and
    /// the end of the last stall or suspension.
    fn silent_since(&self, latest: Timestamp) -> Timestamp {
        latest.max(self.heard_from)
    }

    fn silence_at(&self, exchange: Option<&Exchange>, server: Option<&Server>, at: Timestamp) -> Option<Silence> {
        let (State::Watching(watching), Some(exchange), Some(server)) = (&self.state, exchange, server) else { return None };
        let opened = watching.opened?;
        // What arrives while the client does not read, or cannot be decoded, is no silence. An extension server has rules of its own.
        let is_proxied = exchange.verdict.as_ref().is_some_and(|verdict| verdict.served_from == ServedFrom::Proxied);
        if self.stalls.is_blocked() || exchange.missed_bytes > 0 || exchange.not_read.is_some() || is_proxied {
            return None;
        }
        let since = self.silent_since(watching.latest.unwrap_or(opened));
        let delivered_before = watching.latest.is_some();
        let silence = |because| Silence { since, delivered_before, because };
        let asked = exchange.request.options.resource_version.revision();
        let current = server.current(&self.key.resource).filter(|(_, asked_at)| *asked_at > watching.asked);
        if let Some((asked, (current, _))) = asked.zip(current)
            && !delivered_before
            && asked > current
            && at.since(opened) >= AHEAD_AFTER
        {
            return Some(silence(SilenceProof::Ahead { asked, current }));
        }
        if at.since(since) < DEAF_AFTER {
            return None;
        }
        // Some servers never send the first bookmark (§2.5 of docs/semantics.md). The one that ends initial events is no sign of more.
        let gets_bookmarks = watching.bookmarks > u64::from(watching.listed.is_some());
        let is_selective = self.shape.has_selector() || exchange.request.info.as_ref().is_some_and(|info| !info.name.is_empty());
        if is_selective && !gets_bookmarks {
            return None;
        }
        let silent = Silent { namespace: &self.key.namespace, since, revision: self.revision, gets_bookmarks, is_selective };
        let sign = server.proof(&self.key.resource, silent, at)?;
        let is_uncached = exchange.verdict.as_ref().is_some_and(Verdict::is_of_uncached_resource);
        let certain = match sign {
            Sign::Bookmark { .. } => true,
            Sign::Change { source, .. } => !is_selective && (source == ChangeSource::Watches || is_uncached),
        };
        Some(silence(SilenceProof::Deaf { sign, certain, selective: is_selective }))
    }
}
