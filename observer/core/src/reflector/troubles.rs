//! Starts and ends a reflector's lasting troubles, and puts their evidence into words.

use serde::Serialize;

use super::events::{ReflectorEvent, TroubleEvent};
use super::futile_watches::{FutileEnd, FutileWatches};
use super::refusals::Refusals;
use super::signs::{ChangeSource, Sign};
use super::silence::{Silence, SilenceProof};
use super::spells::Trouble;
use super::state::Reflector;
use super::unsynced::Unsynced;
use crate::quantity::{counted, counted_as, length};
use crate::time::Timestamp;

/// Evidence of the troubles of a reflector, ongoing or past; each is `None` until it occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TroubleEvidence {
    /// Of a deaf watch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deaf: Option<Silence>,
    /// Of a watch that is ahead of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<Silence>,
    /// Of watches from one expired revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired_watches: Option<FutileWatches>,
    /// Of watches from one revision that end at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_watches: Option<FutileWatches>,
    /// Of a streaming list that does not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsynced: Option<Unsynced>,
    /// Of lists and watches that the server refuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusals>,
}

impl TroubleEvidence {
    /// The evidence of `trouble` until `until`, in words; empty without evidence.
    pub fn in_words(&self, trouble: Trouble, until: Timestamp) -> String {
        match trouble {
            Trouble::DeafWatch => self.deaf.map(|silence| silence.in_words(until)),
            Trouble::WatchAhead => self.ahead.map(|silence| silence.in_words(until)),
            Trouble::ExpiredLoop => self.expired_watches.map(FutileWatches::in_words),
            Trouble::SilentExpired => self.empty_watches.map(FutileWatches::in_words),
            Trouble::Refused => self.refused.map(Refusals::in_words),
            Trouble::NeverSynced => self.unsynced.map(|unsynced| unsynced.in_words(until)),
            Trouble::Stuck
            | Trouble::ShortWatches
            | Trouble::RelistLoop
            | Trouble::Stalled
            | Trouble::Relisted(_)
            | Trouble::StreamingRefused
            | Trouble::WentBack
            | Trouble::OlderState => None,
        }
        .unwrap_or_default()
    }
}

impl Silence {
    fn in_words(self, until: Timestamp) -> String {
        let silent = length(until.since(self.since));
        match self.because {
            SilenceProof::Ahead { asked, current } => {
                format!("from revision {asked}, while the API server was at {current}: nothing came for {silent}")
            }
            SilenceProof::Deaf { sign, certain, selective } => {
                let perhaps = if certain { "" } else { "perhaps deaf: " };
                let after = length(sign.at().since(self.since));
                let what = match sign {
                    Sign::Bookmark { .. } => "a bookmark".to_owned(),
                    Sign::Change { revision, .. } => format!("a change (revision {revision})"),
                };
                let doubt = match sign {
                    _ if certain => "",
                    Sign::Change { source: ChangeSource::Etcd, .. } if !selective => " from etcd, and the watch cache may lag",
                    Sign::Change { source: ChangeSource::Etcd, .. } => {
                        " from etcd: its selector may exclude it, or the watch cache may lag"
                    }
                    Sign::Change { .. } | Sign::Bookmark { .. } => ", which its selector may exclude",
                };
                format!("{perhaps}nothing came for {silent}; others got {what} {after} into that time{doubt}")
            }
        }
    }
}

impl Sign {
    const fn at(self) -> Timestamp {
        match self {
            Self::Bookmark { at } | Self::Change { at, .. } => at,
        }
    }
}

impl FutileWatches {
    fn in_words(self) -> String {
        let Self { resource_version, times, since: _, end, last: _ } = self;
        match end {
            FutileEnd::Expired => {
                format!("{times} watches in a row from revision {resource_version}, each answered 410, no list between them")
            }
            FutileEnd::Empty => format!(
                "{times} watches in a row from revision {resource_version} ended at once, empty and without 410: this resource has \
                 no watch cache, and etcd no longer has the revision"
            ),
        }
    }
}

impl Refusals {
    fn in_words(self) -> String {
        let Self { are_watches, status, times, since, last } = self;
        let refused = if are_watches { counted_as(times, "watch", "watches") } else { counted(times, "list") };
        // A series of several statuses has only those of the server itself.
        let status = if status >= 500 { format!("5xx, the last with {status}") } else { status.to_string() };
        format!("{refused} in a row answered {status}, for {}", length(last.since(since)))
    }
}

impl Unsynced {
    fn in_words(self, until: Timestamp) -> String {
        let Self { since, attempts, cut, items } = self;
        let (tried, cut) = (counted(attempts, "attempt"), if cut > 0 { format!(", {cut} cut off") } else { String::new() });
        format!(
            "not synced after {} ({tried}{cut}): {} came, the bookmark that ends the initial events did not",
            length(until.since(since)),
            counted(items, "object")
        )
    }
}

impl Reflector {
    /// Begins a trouble, unless it is ongoing, and reports it.
    pub(super) fn begin_trouble(
        &mut self,
        trouble: Trouble,
        since: Timestamp,
        at: Timestamp,
        emit: &mut dyn FnMut(ReflectorEvent),
    ) {
        if !self.spells.is_ongoing(trouble) {
            self.spells.begin(trouble, since);
            emit(ReflectorEvent::TroubleBegan(self.trouble_event(trouble, since, at)));
        }
    }

    /// Ends a trouble, if it is ongoing, and reports it.
    pub(super) fn end_trouble(&mut self, trouble: Trouble, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        if self.spells.is_ongoing(trouble) {
            let since = self.spells.latest(trouble).unwrap_or(at);
            emit(ReflectorEvent::TroubleEnded(self.trouble_event(trouble, since, at)));
            self.spells.end(trouble, at);
        }
    }

    /// The evidence of its troubles.
    pub(super) fn evidence(&self) -> TroubleEvidence {
        TroubleEvidence {
            deaf: self.deaf,
            ahead: self.ahead,
            expired_watches: self.futile.reported(FutileEnd::Expired),
            empty_watches: self.futile.reported(FutileEnd::Empty),
            unsynced: self.unsynced.reported,
            refused: self.refused.reported(),
        }
    }

    fn trouble_event(&self, trouble: Trouble, since: Timestamp, at: Timestamp) -> Box<TroubleEvent> {
        Box::new(TroubleEvent {
            at,
            reflector: self.id,
            client: self.client.clone(),
            shape: self.shape.clone(),
            trouble: trouble.id(),
            since,
            seen: self.evidence().in_words(trouble, at),
        })
    }
}
