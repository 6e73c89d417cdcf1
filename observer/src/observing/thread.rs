//! The thread.

use std::collections::BTreeSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use observer_core::observation::{Observation, UpstreamName, What};
use observer_core::observer::{Event, Limits, Observer, Snapshot};
use observer_core::time::Timestamp;

use super::Upstream;
use super::decoding::Decoding;
use super::waiting::Waiting;
use crate::intake::{Delivery, IntakeLosses, IntakeReceiver};
use crate::view::EventSink;

/// How long the thread sleeps when nothing comes, before it looks whether the taps are gone.
const IDLE: Duration = Duration::from_secs(1);

/// How often whoever follows is told the totals.
const TOTALS: Duration = Duration::from_secs(30);

/// A running observing thread.
#[derive(Debug)]
pub struct Observing {
    thread: JoinHandle<Outcome>,
}

/// What it leaves behind.
#[derive(Debug)]
pub struct Outcome {
    /// All that was observed.
    pub snapshot: Snapshot,
    /// What went wrong on our side, each a sentence.
    pub troubles: Vec<String>,
}

/// What the thread owns.
struct State {
    observer: Observer,
    waiting: Waiting,
    decoding: Decoding,
    told: Told,
    losses: IntakeLosses,
    totals_told: Instant,
}

/// Whoever is told, until they fail.
struct Told {
    sinks: Vec<Box<dyn EventSink>>,
    troubles: Vec<String>,
}

impl Observing {
    /// Starts the thread. It ends by itself once all taps and their connections are gone and everything was decoded.
    pub fn start(
        receiver: IntakeReceiver,
        at: Timestamp,
        upstreams: Vec<Upstream>,
        sinks: Vec<Box<dyn EventSink>>,
    ) -> io::Result<Self> {
        let known = known(&upstreams);
        let thread = Builder::new().name("observing".to_owned()).spawn(move || {
            let mut state = State {
                observer: Observer::new(Limits::default()),
                waiting: Waiting::new(&upstreams),
                decoding: Decoding::new(upstreams),
                told: Told { sinks, troubles: Vec::new() },
                losses: IntakeLosses::default(),
                totals_told: Instant::now(),
            };
            for what in known {
                state.observe(Observation { at, what });
            }
            state.run(receiver);
            state.outcome()
        })?;
        Ok(Self { thread })
    }

    /// Waits until everything was decoded. Blocks; the taps must have been ended before.
    pub fn finish(self) -> io::Result<Outcome> {
        self.thread.join().map_err(|_panic| io::Error::other("the observing thread failed"))
    }
}

impl State {
    /// Decodes until the taps are gone, or until observing fails; then the receiver is dropped, and the taps go on without us.
    fn run(&mut self, mut receiver: IntakeReceiver) {
        while !receiver.is_closed() {
            let decoded = catch_unwind(AssertUnwindSafe(|| {
                for delivered in receiver.drain(IDLE) {
                    for delivered in self.waiting.pass(delivered) {
                        self.decode(&delivered.delivery);
                    }
                }
                if receiver.is_closed() {
                    for delivered in self.waiting.give_up() {
                        self.decode(&delivered.delivery);
                    }
                }
            }));
            if decoded.is_err() {
                self.told
                    .troubles
                    .push("observing failed and stopped; the traffic went on, and what followed is not in this report".to_owned());
                return;
            }
            self.note_losses(receiver.losses());
            if self.totals_told.elapsed() >= TOTALS {
                self.totals_told = Instant::now();
                self.tell_totals();
            }
            self.told.flush();
        }
    }

    fn decode(&mut self, delivery: &Delivery) {
        let Self { decoding, observer, told, .. } = self;
        decoding.take(delivery, &mut |observation| {
            observer.observe(observation, &mut |event| told.event(&event));
        });
    }

    fn observe(&mut self, observation: Observation) {
        let Self { observer, told, .. } = self;
        observer.observe(observation, &mut |event| told.event(&event));
    }

    /// Connections that found no room are known to the intake only.
    fn note_losses(&mut self, losses: IntakeLosses) {
        let connections = losses.connections.saturating_sub(self.losses.connections);
        self.losses = losses;
        if connections > 0 {
            let at = self.observer.now();
            self.observe(Observation { at, what: What::Unobserved { connections } });
        }
    }

    fn tell_totals(&mut self) {
        let (at, totals, missed) = (self.observer.now(), self.observer.totals(), self.observer.missed());
        self.told.each(|sink| sink.totals(at, &totals, missed));
    }

    fn outcome(mut self) -> Outcome {
        self.tell_totals();
        self.told.flush();
        Outcome { snapshot: self.observer.snapshot(), troubles: self.told.troubles }
    }
}

impl Told {
    fn event(&mut self, event: &Event) {
        self.each(|sink| sink.event(event));
    }

    fn flush(&mut self) {
        self.each(|sink| sink.flush());
    }

    /// A full disk ends the file, not the run.
    fn each(&mut self, mut tell: impl FnMut(&mut dyn EventSink) -> io::Result<()>) {
        let Self { sinks, troubles } = self;
        sinks.retain_mut(|sink| match tell(sink.as_mut()) {
            Ok(()) => true,
            Err(error) => {
                troubles.push(format!("{} ended early: {error}", sink.name()));
                false
            }
        });
    }
}

/// Servers that several listeners lead to are told of once.
fn known(upstreams: &[Upstream]) -> Vec<What> {
    let mut told = BTreeSet::new();
    let fresh = upstreams.iter().filter(|upstream| told.insert(&upstream.name));
    let known = fresh.filter_map(|upstream| Some((UpstreamName(upstream.name.clone()), upstream.profile.clone()?)));
    known.map(|(upstream, profile)| What::Profile { upstream, profile: Box::new(profile) }).collect()
}
