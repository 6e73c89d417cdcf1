//! An API server with the two objects, and replicas that decide, without sockets and clocks.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use super::super::agreement::{Agreement, Moment, NotDecided, Step};
use super::super::authority::Authority;
use super::super::bundle::Bundle;
use super::super::objects::{SeenConfiguration, SeenSecret, SeenWebhook, Version};
use super::super::pace::Pace;
use crate::kubeconfig::Secret;

/// Authorities that are made once, because that takes longer than all else here.
const POOL: usize = 24;
pub(super) const YEAR: Duration = Duration::from_hours(365 * 24);

/// An API server, and the replicas of a webhook.
pub(super) struct Model {
    pub(super) secret: Option<Stored<Vec<u8>>>,
    pub(super) configuration: Option<Stored<Bundle>>,
    /// Bundles that replicas replaced, and when. An API server with a late watch still has one of them.
    former: Vec<(Bundle, Duration)>,
    pub(super) replicas: Vec<Replica>,
    pub(super) now: Moment,
    /// Successful changes by replicas.
    pub(super) writes: usize,
    versions: u64,
}

/// An object of the API server.
#[derive(Clone, Debug)]
pub(super) struct Stored<T> {
    pub(super) content: T,
    version: u64,
    uid: u64,
}

/// A replica of the webhook, in or between two checks.
pub(super) struct Replica {
    pub(super) agreement: Agreement,
    step: Step,
    /// An answer that was sent, and has not arrived.
    coming: Option<Answer>,
    /// Whether answers arrive only with the next turn.
    is_late: bool,
    /// Whether another program changed the configuration since its check began, so that what it read may be wrong.
    pub(super) is_misled: bool,
}

enum Answer {
    Secret(SeenSecret),
    Configuration(Option<SeenConfiguration>),
    Made,
    Conflict,
    Failed,
}

impl Model {
    /// No Secret, a configuration without a bundle, and so many replicas.
    pub(super) fn new(late: &[bool]) -> Self {
        let now = Moment { clock: start(), running: Duration::ZERO };
        let configuration = Some(Stored { content: Bundle::default(), version: 1, uid: 1 });
        let replicas = late.iter().map(|is_late| Replica::new(*is_late, now)).collect();
        Self { secret: None, configuration, former: Vec::new(), replicas, now, writes: 0, versions: 1 }
    }

    /// Another program stores a Secret.
    pub(super) fn store(&mut self, content: &[u8]) {
        let (version, uid) = (self.next_version(), self.next_version());
        self.secret = Some(Stored { content: content.to_vec(), version, uid });
    }

    /// Another program writes `caBundle`.
    pub(super) fn bundle(&mut self, content: Bundle) {
        let (version, uid) = (self.next_version(), self.next_version());
        self.configuration = Some(Stored { content, version, uid });
        self.former.clear();
        self.mislead();
    }

    /// Another program deletes the configuration.
    pub(super) fn delete_configuration(&mut self) {
        self.configuration = None;
        self.former.clear();
        self.mislead();
    }

    fn mislead(&mut self) {
        for replica in &mut self.replicas {
            replica.is_misled = true;
        }
    }

    pub(super) fn restart(&mut self, number: usize) {
        self.replicas[number] = Replica::new(self.replicas[number].is_late, self.now);
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now = Moment { clock: self.now.clock + time, running: self.now.running + time };
    }

    /// One replica has its turn: an answer arrives, or its next request is answered. `fails` is an API server in trouble.
    pub(super) fn turn(&mut self, number: usize, fails: bool) {
        if let Some(coming) = self.replicas[number].coming.take() {
            self.arrive(number, coming);
            return;
        }
        let step = self.replicas[number].step.clone();
        if matches!(step, Step::Rest) {
            let replica = &mut self.replicas[number];
            (replica.step, replica.is_misled) = (replica.agreement.begin(self.now), false);
            return;
        }
        let answer = if fails { Answer::Failed } else { self.answer(&step) };
        if self.replicas[number].is_late {
            self.replicas[number].coming = Some(answer);
        } else {
            self.arrive(number, answer);
        }
    }

    /// All replicas check until each has completed one check more.
    pub(super) fn check_all(&mut self) {
        for number in 0..self.replicas.len() {
            self.check(number);
        }
    }

    /// One replica checks until it has completed one check more.
    pub(super) fn check(&mut self, number: usize) {
        while !self.replicas[number].is_at_rest() {
            self.turn(number, false);
        }
        self.turn(number, false);
        while !self.replicas[number].is_at_rest() {
            self.turn(number, false);
        }
    }

    /// Whether a replica believes that every API server accepts its leaf.
    pub(super) fn is_accepted(&self, number: usize) -> bool {
        self.replicas[number].agreement.is_accepted(self.now)
    }

    fn arrive(&mut self, number: usize, answer: Answer) {
        let now = self.now;
        let replica = &mut self.replicas[number];
        let agreement = &mut replica.agreement;
        let next: Result<Step, NotDecided> = match (&replica.step, answer) {
            (_, Answer::Failed) => Ok(Step::Rest),
            (Step::ReadSecret, Answer::Secret(seen)) => agreement.secret(seen, now),
            (Step::Create(authority) | Step::Replace { authority, .. }, Answer::Made) => Ok(agreement.stored(authority.clone())),
            (Step::ReadConfiguration, Answer::Configuration(Some(seen))) => agreement.configuration(seen, now),
            (Step::ReadConfiguration, Answer::Configuration(None)) => {
                agreement.no_configuration(now);
                Ok(Step::Rest)
            }
            (Step::WriteBundle { bundle, .. }, Answer::Made) => Ok(agreement.written(bundle.clone(), now)),
            (step, Answer::Conflict) => {
                let step = step.clone();
                agreement.conflict(&step)
            }
            (step, _) => panic!("no answer to {step:?}"),
        };
        // A failed check ends, as in the keeper.
        replica.step = next.unwrap_or(Step::Rest);
    }

    fn answer(&mut self, step: &Step) -> Answer {
        match step {
            Step::ReadSecret => Answer::Secret(match &self.secret {
                None => SeenSecret::Absent,
                Some(stored) => {
                    SeenSecret::Present { version: stored.version(), content: Some(Secret::new(stored.content.clone())) }
                }
            }),
            Step::Create(authority) => {
                let content = authority.to_pem().into_bytes();
                match &self.secret {
                    None => {
                        self.store(&content);
                        self.made()
                    }
                    // Two appliers may have the same value.
                    Some(stored) if stored.content == content => Answer::Made,
                    Some(_) => Answer::Conflict,
                }
            }
            Step::Replace { authority, at, .. } => {
                if self.secret.as_ref().map(Stored::version).as_ref() != Some(at) {
                    return Answer::Conflict;
                }
                let version = self.next_version();
                if let Some(stored) = &mut self.secret {
                    *stored = Stored { content: authority.to_pem().into_bytes(), version, uid: stored.uid };
                }
                self.made()
            }
            Step::ReadConfiguration => Answer::Configuration(self.configuration.as_ref().map(|stored| {
                let webhook = SeenWebhook { name: "pods".to_owned(), bundle: stored.content.clone() };
                SeenConfiguration { version: stored.version(), webhooks: vec![webhook] }
            })),
            Step::WriteBundle { bundle, at, .. } => {
                if self.configuration.as_ref().map(Stored::version).as_ref() != Some(at) {
                    return Answer::Conflict;
                }
                let version = self.next_version();
                if let Some(stored) = &mut self.configuration {
                    self.former.push((stored.content.clone(), self.now.running));
                    *stored = Stored { content: bundle.clone(), version, uid: stored.uid };
                }
                self.made()
            }
            Step::Rest => panic!("nothing to answer"),
        }
    }

    fn made(&mut self) -> Answer {
        self.writes += 1;
        Answer::Made
    }

    fn next_version(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }

    /// The authority of the Secret.
    pub(super) fn authority(&self) -> Authority {
        let stored = self.secret.as_ref().expect("there is a Secret");
        Authority::read(&stored.content, self.now.clock).expect("its content can be used")
    }

    /// Replicas that believe that the API server accepts their leaf, although it does not.
    pub(super) fn deceived(&self) -> Vec<usize> {
        let is_deceived = |replica: &Replica| {
            let serving = replica.agreement.serving().filter(|_| replica.agreement.is_accepted(self.now));
            let bundle = self.configuration.as_ref().map(|stored| &stored.content);
            serving.is_some_and(|serving| !bundle.is_some_and(|bundle| bundle.contains(serving.certificate())))
        };
        (0..self.replicas.len()).filter(|number| is_deceived(&self.replicas[*number])).collect()
    }

    /// Replicas that believe that every API server accepts their leaf, although one with a late watch trusts others alone. A watch is
    /// late by less than [`Pace::settle`].
    pub(super) fn refused_by_late_servers(&self) -> Vec<usize> {
        let views = self.former.iter().filter(|(_, replaced)| self.now.running.saturating_sub(*replaced) < Pace::USUAL.settle);
        let views: Vec<_> = views.map(|(view, _)| view).filter(|view| view.iter().next().is_some()).collect();
        let is_refused = |replica: &Replica| {
            let serving = replica.agreement.serving().filter(|_| replica.agreement.is_accepted(self.now));
            serving.is_some_and(|serving| views.iter().any(|view| !view.contains(serving.certificate())))
        };
        (0..self.replicas.len()).filter(|number| is_refused(&self.replicas[*number])).collect()
    }

    #[track_caller]
    pub(super) fn assert_agreed(&self) {
        let authority = self.authority();
        for replica in &self.replicas {
            assert!(replica.agreement.is_accepted(self.now));
            assert_eq!(replica.agreement.serving(), Some(&authority));
        }
        assert!(self.deceived().is_empty());
    }

    /// The certificates of `caBundle`.
    pub(super) fn carried(&self) -> Bundle {
        self.configuration.as_ref().map(|stored| stored.content.clone()).unwrap_or_default()
    }
}

impl<T> Stored<T> {
    fn version(&self) -> Version {
        Version { uid: self.uid.to_string(), revision: self.version.to_string(), owners: Vec::new() }
    }
}

impl Replica {
    fn new(is_late: bool, now: Moment) -> Self {
        let mut agreement = Agreement::new(Pace::USUAL, Box::new(|now| Ok(new_authority(now))));
        let step = agreement.begin(now);
        Self { agreement, step, coming: None, is_late, is_misled: false }
    }

    pub(super) fn is_at_rest(&self) -> bool {
        self.coming.is_none() && matches!(self.step, Step::Rest)
    }
}

/// The beginning of each test.
pub(super) fn start() -> SystemTime {
    static START: OnceLock<SystemTime> = OnceLock::new();
    *START.get_or_init(SystemTime::now)
}

/// An authority of the pool, or a later one if its time has come.
pub(super) fn new_authority(now: SystemTime) -> Authority {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    static POOLED: OnceLock<Vec<Authority>> = OnceLock::new();
    let pool = POOLED.get_or_init(|| (0..POOL).map(|_| Authority::generate(start()).unwrap()).collect());
    let pooled = &pool[MADE.fetch_add(1, Ordering::Relaxed) % POOL];
    if pooled.is_usable(now) { pooled.clone() } else { Authority::generate(now).unwrap() }
}

/// A bundle of these authorities.
pub(super) fn bundle_of(authorities: &[&Authority]) -> Bundle {
    authorities.iter().map(|authority| authority.certificate().clone()).collect()
}
