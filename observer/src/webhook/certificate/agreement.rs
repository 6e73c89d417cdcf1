//! The decisions of a replica, by which all replicas agree on one authority: pure, without requests and clocks.
//!
//! A *check* begins with [`Agreement::begin`]. Each answer of the API server leads to the next [`Step`]:
//!
//! ```text
//!              usable
//! ReadSecret ──────────────────────────────────► ReadConfiguration ──────────► Rest
//!   ▲   ▲  │ none         stored                  ▲      ▲     │ another bundle  ▲
//!   │   │  ├──► Create ────────────────────────────┤      │     ▼                 │ stored
//!   │   │  │ unusable     stored                  │   conflict WriteBundle ──────┘
//!   │   │  └──► Replace ───────────────────────────┘      └─────┘
//!   │   conflict │
//!   └────────────┘
//! ```
//!
//! The Secret decides. `Create` and `Replace` succeed for one replica alone; the others read what that one stored. A leaf of another
//! authority is served only after `caBundle` has had that authority for [`Pace::settle`]. Each API server learns of a new `caBundle` by
//! a watch, so some learn of it later. The former authority stays in `caBundle` for [`Pace::keep`], until every replica has changed.
//!
//! A replica that has just started has no former leaf. It serves the one that it can issue, and counts as accepted after the same
//! time. Until then, the API server calls the other replicas. A replica that has not completed a check for [`Pace::contact`] does not
//! know whether the others have dropped its authority. If others were in `caBundle`, it no longer counts as accepted.

use std::fmt;
use std::time::{Duration, SystemTime};

use observer_pki::{AuthorityError, StoredAuthorityError};
use rustls_pki_types::CertificateDer;

use super::authority::Authority;
use super::bundle::Bundle;
use super::objects::{SeenConfiguration, SeenSecret, Version};
use super::pace::Pace;

/// Maximum number of conflicts in a check. After that, a pause lets others finish.
const MAX_CONFLICTS: u32 = 5;

/// A moment: on the clock, for certificates, and since the start, for pauses. The clock may be wrong or set back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) clock: SystemTime,
    pub(super) running: Duration,
}

/// The next act of a check.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Read the Secret; then call [`Agreement::secret`].
    ReadSecret,
    /// Create the Secret with this authority, unless it has another one; then call [`Agreement::stored`] or
    /// [`Agreement::conflict`].
    Create(Authority),
    /// Replace the content of the Secret, which cannot be used, if it still has this version; then as for `Create`.
    Replace { authority: Authority, at: Version, because: Unusable },
    /// Read the configuration; then call [`Agreement::configuration`].
    ReadConfiguration,
    /// Write this bundle to all of these webhooks, if the configuration still has this version; then call [`Agreement::written`] or
    /// [`Agreement::conflict`].
    WriteBundle { bundle: Bundle, webhooks: Vec<String>, at: Version },
    /// Nothing until the next check.
    Rest,
}

/// Why the content of the Secret cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unusable(String);

/// Why a check ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotDecided {
    /// Others change the objects all the time.
    #[error("other programs keep changing {what}; find them by its managedFields (kubectl get --show-managed-fields)")]
    Conflicts { what: &'static str },
    /// The configuration has no webhook of our Service.
    #[error("no webhook of it is for this Service; write the Service's name and namespace to its clientConfig.service")]
    NoWebhook,
    #[error(transparent)]
    Library(#[from] AuthorityError),
}

/// Makes a new authority that is valid at this time.
pub(super) type Generate = Box<dyn FnMut(SystemTime) -> Result<Authority, AuthorityError> + Send>;

/// The knowledge of a replica.
pub(super) struct Agreement {
    pace: Pace,
    generate: Generate,
    /// That of the Secret, as last seen or written.
    in_secret: Option<Authority>,
    /// That of the leaf certificate.
    serving: Option<Authority>,
    /// Whether all API servers know `serving`, or trust no replica at all.
    is_known: bool,
    /// `caBundle`, as last seen or written.
    bundle: Bundle,
    /// Since when `bundle` has had `in_secret`.
    carried_since: Option<Duration>,
    /// Certificates of `bundle` that are neither `in_secret` nor `serving`, and since when.
    superseded: Vec<(CertificateDer<'static>, Duration)>,
    /// When the current check began.
    began: Duration,
    /// When the last check began that was completed.
    completed: Option<Duration>,
    conflicts: u32,
}

impl Agreement {
    pub(super) fn new(pace: Pace, generate: Generate) -> Self {
        Self {
            pace,
            generate,
            in_secret: None,
            serving: None,
            is_known: false,
            bundle: Bundle::default(),
            carried_since: None,
            superseded: Vec::new(),
            began: Duration::ZERO,
            completed: None,
            conflicts: 0,
        }
    }

    /// The authority whose leaf is to be served; `None` at first.
    pub(super) fn serving(&self) -> Option<&Authority> {
        self.serving.as_ref()
    }

    /// Whether every API server accepts a leaf of [`Self::serving`], as last seen. Without contact, an authority that was alone in
    /// `caBundle` still counts: an API server that is away for long must not take all replicas out.
    pub(super) fn is_accepted(&self, now: Moment) -> bool {
        let is_there = self.serving.as_ref().is_some_and(|serving| self.bundle.contains(serving.certificate()));
        self.is_known && is_there && (self.is_alone() || self.has_contact(now))
    }

    /// Begins a check.
    pub(super) fn begin(&mut self, now: Moment) -> Step {
        self.began = now.running;
        self.conflicts = 0;
        Step::ReadSecret
    }

    /// Takes the Secret as read.
    pub(super) fn secret(&mut self, seen: SeenSecret, now: Moment) -> Result<Step, NotDecided> {
        let (version, content) = match seen {
            SeenSecret::Absent => return Ok(Step::Create(self.known_or_new(now)?)),
            SeenSecret::Present { version, content } => (version, content),
        };
        let because = match content.map(|content| Authority::read(content.expose(), now.clock)) {
            Some(Ok(authority)) => return Ok(self.note_authority(authority)),
            Some(Err(why)) => Unusable::from(why),
            None => Unusable("it has no authority.pem".to_owned()),
        };
        Ok(Step::Replace { authority: self.known_or_new(now)?, at: version, because })
    }

    /// The Secret has this authority now.
    pub(super) fn stored(&mut self, authority: Authority) -> Step {
        self.note_authority(authority)
    }

    /// Takes the configuration as read.
    pub(super) fn configuration(&mut self, seen: SeenConfiguration, now: Moment) -> Result<Step, NotDecided> {
        let Some(in_secret) = self.in_secret.clone() else { return Ok(Step::ReadSecret) };
        let (present, complete) = (seen.union(), seen.intersection());
        self.note_bundle(complete.clone(), now);
        if seen.webhooks.is_empty() {
            return Err(NotDecided::NoWebhook);
        }
        let wanted = self.wanted(&in_secret, &present, now);
        if present.has_same(&wanted) && complete.has_same(&wanted) {
            return Ok(self.complete(now));
        }
        let webhooks = seen.webhooks.into_iter().map(|webhook| webhook.name).collect();
        Ok(Step::WriteBundle { bundle: wanted, webhooks, at: seen.version })
    }

    /// The configuration has this bundle now.
    pub(super) fn written(&mut self, bundle: Bundle, now: Moment) -> Step {
        self.note_bundle(bundle, now);
        self.complete(now)
    }

    /// There is no configuration, so the API server does not call the webhook.
    pub(super) fn no_configuration(&mut self, now: Moment) {
        self.note_bundle(Bundle::default(), now);
    }

    /// Another program was first, so the objects are read again.
    pub(super) fn conflict(&mut self, failed: &Step) -> Result<Step, NotDecided> {
        self.conflicts += 1;
        let (what, next) = match failed {
            Step::ReadConfiguration | Step::WriteBundle { .. } => ("the configuration", Step::ReadConfiguration),
            Step::ReadSecret | Step::Create(_) | Step::Replace { .. } | Step::Rest => ("the Secret", Step::ReadSecret),
        };
        if self.conflicts > MAX_CONFLICTS { Err(NotDecided::Conflicts { what }) } else { Ok(next) }
    }

    /// If the Secret was deleted or damaged, clients of the API server still trust the authority that it had.
    fn known_or_new(&mut self, now: Moment) -> Result<Authority, AuthorityError> {
        match &self.in_secret {
            Some(in_secret) if in_secret.is_usable(now.clock) => Ok(in_secret.clone()),
            Some(_) | None => (self.generate)(now.clock),
        }
    }

    fn note_authority(&mut self, authority: Authority) -> Step {
        if self.in_secret.as_ref() != Some(&authority) {
            self.carried_since = None;
        }
        self.in_secret = Some(authority);
        Step::ReadConfiguration
    }

    /// Remembers a bundle, and since when its parts are there.
    fn note_bundle(&mut self, bundle: Bundle, now: Moment) {
        let has_it = self.in_secret.as_ref().is_some_and(|in_secret| bundle.contains(in_secret.certificate()));
        self.carried_since = if has_it { self.carried_since.or(Some(now.running)) } else { None };
        self.bundle = bundle;
    }

    /// The bundle that the configuration is to have: the authority of the Secret, that of the own leaf, and the others until their
    /// time is over.
    fn wanted(&mut self, in_secret: &Authority, present: &Bundle, now: Moment) -> Bundle {
        let own = [Some(in_secret), self.serving.as_ref()].into_iter().flatten().map(|own| own.certificate().clone());
        let own: Bundle = own.collect();
        let others = present.iter().filter(|other| !own.contains(other)).map(|other| {
            let known = self.superseded.iter().find(|(superseded, _since)| superseded == other);
            (other.clone(), known.map_or(now.running, |(_, since)| *since))
        });
        self.superseded = others.collect();
        let kept = self.superseded.iter().filter(|(_, since)| now.running.saturating_sub(*since) < self.pace.keep);
        own.iter().chain(kept.map(|(other, _)| other)).cloned().collect()
    }

    /// Ends a check that found or made the objects as they are to be.
    fn complete(&mut self, now: Moment) -> Step {
        // If the others were changing meanwhile, they may have dropped the authority of the leaf for some time.
        self.is_known &= self.is_alone() || self.has_contact(now);
        self.completed = Some(self.began);
        self.settle(now);
        Step::Rest
    }

    /// Whether the last complete check is so recent that the others cannot have dropped what this replica needs.
    fn has_contact(&self, now: Moment) -> bool {
        self.completed.is_some_and(|completed| now.running.saturating_sub(completed) < self.pace.contact())
    }

    /// Whether `caBundle` has no other authority than that of the leaf. Then no API server can trust another replica instead.
    fn is_alone(&self) -> bool {
        self.serving.as_ref().is_some_and(|serving| self.bundle.iter().all(|one| one == serving.certificate()))
    }

    /// Serves the authority of the Secret, once all API servers know it.
    fn settle(&mut self, now: Moment) {
        let (Some(in_secret), Some(since)) = (&self.in_secret, self.carried_since) else { return };
        let is_settled = now.running.saturating_sub(since) >= self.pace.settle;
        let is_served = |serving: &Authority| self.bundle.contains(serving.certificate()) && serving.is_valid(now.clock);
        if is_settled || !self.serving.as_ref().is_some_and(is_served) {
            self.is_known &= self.serving.as_ref() == Some(in_secret);
            self.serving = Some(in_secret.clone());
        }
        if self.serving.as_ref() == Some(in_secret) {
            self.is_known |= is_settled || self.is_alone();
        }
    }
}

impl From<StoredAuthorityError> for Unusable {
    fn from(why: StoredAuthorityError) -> Self {
        Self(why.to_string())
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
