//! The thread.

use std::collections::BTreeSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use observer_core::observation::{Observation, UpstreamName, What};
use observer_core::observer::{Limits, Observer, Snapshot};
use observer_core::time::Timestamp;

use super::Upstream;
use super::deadline::{Deadline, PATIENCE, Undecoded};
use super::decoding::{Decoding, connection};
use super::held::Held;
use super::outputs::Outputs;
use super::waiting::Waiting;
use crate::injected_fault::{self, Place};
use crate::intake::{Delivery, IntakeLosses, IntakeReceiver, TapEvent};
use crate::tap::Clock;

/// How long the thread sleeps when nothing comes, before it looks whether the taps are gone.
const IDLE: Duration = Duration::from_secs(1);

/// How often whoever follows is told the totals.
const TOTALS: Duration = Duration::from_secs(30);

/// A running observing thread.
#[derive(Debug)]
pub struct Observing {
    thread: JoinHandle<Outcome>,
    deadline: Deadline,
}

/// What it leaves behind.
#[derive(Debug)]
pub struct Outcome {
    /// All that was observed.
    pub snapshot: Snapshot,
    /// Whether observing went on to the end: the snapshot lacks nothing that is not counted in it.
    pub is_whole: bool,
    /// What went wrong on our side, each a sentence.
    pub troubles: Vec<String>,
}

/// What the thread owns.
struct State {
    waiting: Waiting,
    decoding: Decoding,
    held: Held,
    door: Door,
    losses: IntakeLosses,
    totals_told: Instant,
    clock: Clock,
    idle: Idle,
    deadline: Deadline,
    undecoded: Undecoded,
}

/// Since when nothing has happened, so that time can be told to pass.
struct Idle {
    /// By the clock of this thread.
    since: Timestamp,
    /// The taps' time then, once all that had come by then has passed the door.
    at: Timestamp,
}

/// The one way into the Observer: what passes it is recorded, so a replay ends in the same state.
struct Door {
    observer: Observer,
    outputs: Outputs,
}

impl Observing {
    /// Starts the thread. It ends by itself once all taps and their connections are gone and everything was decoded.
    pub fn start(receiver: IntakeReceiver, at: Timestamp, upstreams: Vec<Upstream>, outputs: Outputs) -> io::Result<Self> {
        let deadline = Deadline::default();
        let of_thread = deadline.clone();
        // The run begins now, whenever the first client comes.
        let known = [What::Tick].into_iter().chain(known(&upstreams)).map(|what| Observation { at, what }).collect();
        let thread = Builder::new().name("observing".to_owned()).spawn(move || {
            let clock = Clock::start();
            let mut state = State {
                waiting: Waiting::new(&upstreams),
                decoding: Decoding::new(upstreams),
                held: Held::default(),
                door: Door { observer: Observer::new(Limits::default()), outputs },
                losses: IntakeLosses::default(),
                totals_told: Instant::now(),
                clock,
                idle: Idle { since: clock.now(), at },
                deadline: of_thread,
                undecoded: Undecoded::default(),
            };
            state.run(known, receiver);
            let trouble = state.undecoded.trouble();
            state.door.outcome(trouble)
        })?;
        Ok(Self { thread, deadline })
    }

    /// Waits until everything was decoded, for 5 s at most; what is not decoded then counts as missed. Blocks; the taps must have been stopped
    /// before.
    pub fn finish(self) -> io::Result<Outcome> {
        self.set_deadline(PATIENCE);
        self.thread.join().map_err(|_panic| io::Error::other("the observing thread failed"))
    }

    /// From then on nothing more is decoded.
    pub(super) fn set_deadline(&self, patience: Duration) {
        self.deadline.set(patience);
    }
}

impl Idle {
    /// The taps' time at `now` of this thread's clock, shown by the wall clock as it is set by then.
    fn at(&self, now: Timestamp) -> Timestamp {
        let set_forward = now.wall_ahead().saturating_sub(self.since.wall_ahead());
        self.at.plus(now.since(self.since)).with_wall_ahead(self.at.wall_ahead().saturating_add(set_forward))
    }
}

impl State {
    /// Takes what is known from the start, and decodes until the taps are gone, or until observing fails; then the receiver is dropped, and
    /// the taps go on without us.
    fn run(&mut self, known: Vec<Observation>, mut receiver: IntakeReceiver) {
        let observing = catch_unwind(AssertUnwindSafe(|| {
            for one in known {
                self.door.observe(one);
            }
            self.door.publish();
            while !receiver.is_closed() {
                self.turn(&mut receiver);
            }
            self.let_the_rest_pass();
        }));
        if observing.is_err() {
            tracing::error!("observing failed and stops here; the traffic goes on");
            let why = "observing failed and stopped; the traffic went on, and what followed is not in this report";
            self.door.outputs.abandon(why);
        }
    }

    /// Takes what has come, and does what is due.
    fn turn(&mut self, receiver: &mut IntakeReceiver) {
        let wait = self.door.outputs.due_in().unwrap_or(IDLE).min(IDLE);
        let mut nothing_came = true;
        for delivered in receiver.drain(wait) {
            nothing_came = false;
            if !matches!(delivered.delivery, Delivery::Process(..)) {
                self.idle.since = self.clock.now();
            }
            for delivered in self.waiting.pass(delivered) {
                self.decode(&delivered.delivery);
            }
        }
        if nothing_came {
            self.let_time_pass();
        } else {
            self.idle.at = self.door.observer.now();
        }
        if receiver.is_closed() {
            for delivered in self.waiting.give_up() {
                self.decode(&delivered.delivery);
            }
        }
        self.note_losses(receiver.losses());
        if self.totals_told.elapsed() >= TOTALS {
            self.totals_told = Instant::now();
            self.door.tell_totals();
        }
        self.door.flush();
        self.door.publish();
    }

    /// What ends by nothing happening, such as a storm, has to be told of the time, and so has who looks at how long something goes on. The
    /// taps' clocks are not ours to read. It does not pass what is held back.
    fn let_time_pass(&mut self) {
        if !self.held.is_empty() {
            return;
        }
        let now = self.clock.now();
        let at = self.idle.at(now);
        let is_awaited = self.door.observer.awaits_time() || self.door.outputs.is_looked_at();
        if is_awaited && at.since(self.door.observer.now()) >= IDLE {
            self.door.observe(Observation { at, what: What::Tick });
            self.idle = Idle { since: now, at };
        }
    }

    /// Time goes on after the last thing that happened: a run is as long as it took.
    fn let_the_rest_pass(&mut self) {
        let at = self.idle.at(self.clock.now());
        if self.held.is_empty() && at > self.door.observer.now() {
            self.door.observe(Observation { at, what: What::Tick });
        }
    }

    fn decode(&mut self, delivery: &Delivery) {
        let instead = if self.deadline.has_passed() { self.undecoded.instead_of(delivery) } else { None };
        let delivery = instead.as_ref().unwrap_or(delivery);
        let Self { decoding, held, door, .. } = self;
        let mut told = |observation| door.observe(observation);
        match delivery {
            Delivery::Connection(id, event) => {
                let process_follows = matches!(event, TapEvent::Opened { process_follows: true, .. });
                decoding.take(*id, event, &mut |observation| held.pass(observation, process_follows, &mut told));
            }
            Delivery::Process(id, process) => held.answer(connection(*id), process.clone(), &mut told),
            Delivery::Notice(notice) => {
                if let Some(observation) = decoding.notice(notice) {
                    held.pass(observation, false, &mut told);
                }
            }
        }
    }

    /// Connections and notices that found no room are known to the intake only.
    fn note_losses(&mut self, losses: IntakeLosses) {
        let connections = losses.connections.saturating_sub(self.losses.connections);
        let notices = losses.notices.saturating_sub(self.losses.notices);
        self.losses = losses;
        let at = self.door.observer.now();
        if connections > 0 {
            self.door.observe(Observation { at, what: What::Unobserved { connections } });
        }
        if notices > 0 {
            self.door.observe(Observation { at, what: What::Untold { notices } });
        }
    }
}

impl Door {
    fn observe(&mut self, observation: Observation) {
        let recorded = self.outputs.record(&observation);
        self.pass(observation);
        self.note_end_of_capture(recorded);
    }

    fn flush(&mut self) {
        let recorded = self.outputs.flush();
        self.note_end_of_capture(recorded);
    }

    fn publish(&mut self) {
        let Self { observer, outputs } = self;
        outputs.publish(observer);
    }

    /// That the capture ended cannot be in the capture.
    fn note_end_of_capture(&mut self, recorded: io::Result<()>) {
        if let Err(error) = recorded {
            self.outputs.warn(&format!("the capture ended early: {error}"));
            let at = self.observer.now();
            self.pass(Observation { at, what: What::CaptureEnded { why: error.to_string() } });
        }
    }

    fn pass(&mut self, observation: Observation) {
        injected_fault::strike(Place::Observer, &observation);
        let Self { observer, outputs } = self;
        observer.observe(observation, &mut |event| outputs.event(&event));
        outputs.note_change();
    }

    fn tell_totals(&mut self) {
        let Self { observer, outputs } = self;
        outputs.totals(observer);
    }

    fn outcome(mut self, trouble: Option<String>) -> Outcome {
        self.outputs.end_of_observing();
        let snapshot = catch_unwind(AssertUnwindSafe(|| self.conclude()));
        let snapshot = snapshot.unwrap_or_else(|_panic| {
            self.outputs.abandon("nothing could be put together of what was observed: an internal error; please report it");
            Observer::new(Limits::default()).snapshot()
        });
        let is_whole = !self.outputs.is_abandoned();
        Outcome { snapshot, is_whole, troubles: self.outputs.finish().into_iter().chain(trouble).collect() }
    }

    fn conclude(&mut self) -> Snapshot {
        self.tell_totals();
        let recorded = self.outputs.end_capture();
        self.note_end_of_capture(recorded);
        self.observer.snapshot()
    }
}

/// Servers that several listeners lead to are told of once.
fn known(upstreams: &[Upstream]) -> Vec<What> {
    let mut told = BTreeSet::new();
    let fresh = upstreams.iter().filter(|upstream| told.insert(&upstream.name));
    let known = fresh.filter_map(|upstream| Some((UpstreamName::of(upstream.name.clone()), upstream.profile.clone()?)));
    known.map(|(upstream, profile)| What::Profile { upstream, profile: Box::new(profile) }).collect()
}
