//! The observing thread.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use observer_core::observation::{
    CaptureObservation, Observation, RunObservation, Subject, TapObservation, UpstreamName, UpstreamObservation,
};
use observer_core::observer::{Limits, Observer, Snapshot};
use observer_core::time::Timestamp;

use super::Upstream;
use super::deadline::{DECODING_LIMIT, Deadline, Undecoded};
use super::decoding::Decoding;

use super::awaiting_process::AwaitingProcess;
use super::awaiting_profile::AwaitingProfile;
use super::beside_logs::{self, BesideLogs};
use super::outputs::Outputs;
use crate::injected_fault::{self, Component};
use crate::intake::{Delivery, IntakeLosses, IntakeReceiver, TapEvent};
use crate::memory_budget::MemoryBudget;
use crate::tap::Clock;

/// Time without deliveries after which the thread checks whether the taps have stopped.
const IDLE: Duration = Duration::from_secs(1);

/// Interval at which receivers of events get the totals.
const TOTALS: Duration = Duration::from_secs(30);

/// A running observing thread.
#[derive(Debug)]
pub struct Observing {
    thread: JoinHandle<Outcome>,
    deadline: Deadline,
}

/// The result of the observing thread.
#[derive(Debug)]
pub struct Outcome {
    /// The state of the Observer at the end.
    pub snapshot: Snapshot,
    /// Whether observing continued until the end of the run. If so, the snapshot counts everything that was missed.
    pub is_complete: bool,
    /// Problems inside watchtap, one sentence each.
    pub troubles: Vec<String>,
}

/// The data that the thread owns.
struct State {
    awaiting_profile: AwaitingProfile,
    decoding: Decoding,
    awaiting_process: AwaitingProcess,
    observer: RecordingObserver,
    losses: IntakeLosses,
    totals_emitted: Instant,
    clock: Clock,
    idle: Idle,
    deadline: Deadline,
    undecoded: Undecoded,
}

/// The time of the last observation or tick, on two clocks. From it, the taps' time is computed while nothing is observed.
struct Idle {
    /// That time by the clock of this thread.
    since: Timestamp,
    /// The same moment by the clock of the taps.
    at: Timestamp,
}

/// The Observer, and the outputs that record its input. All observations pass through here, so a replay ends in the same state.
struct RecordingObserver {
    observer: Observer,
    outputs: Outputs,
    /// The logs of the API server; `None` without them.
    beside: Option<Box<BesideLogs>>,
}

impl Observing {
    /// Starts the thread. It ends by itself when all taps have stopped, all connections are closed and everything is decoded.
    pub fn start(
        receiver: IntakeReceiver,
        at: Timestamp,
        upstreams: Vec<Upstream>,
        outputs: Outputs,
        memory: &MemoryBudget,
    ) -> io::Result<Self> {
        Self::start_beside(None, receiver, at, upstreams, outputs, memory)
    }

    /// The same, beside the logs of the API server.
    pub fn start_beside(
        beside: Option<Box<BesideLogs>>,
        receiver: IntakeReceiver,
        at: Timestamp,
        upstreams: Vec<Upstream>,
        outputs: Outputs,
        memory: &MemoryBudget,
    ) -> io::Result<Self> {
        let (tables, awaiting_process) = (memory.tables, memory.awaiting_process);
        let deadline = Deadline::default();
        let of_thread = deadline.clone();
        // The run begins now, not with the first client.
        let known = [Subject::Run(RunObservation::Tick)]
            .into_iter()
            .chain(known(&upstreams))
            .map(|subject| Observation { at, subject })
            .collect();
        outputs.wake_by(&receiver.waker());
        let thread = Builder::new().name("observing".to_owned()).spawn(move || {
            let clock = Clock::start();
            let mut state = State {
                awaiting_profile: AwaitingProfile::new(&upstreams),
                decoding: Decoding::new(upstreams),
                awaiting_process: AwaitingProcess::within(awaiting_process),
                observer: RecordingObserver { observer: Observer::new(tables), outputs, beside },
                losses: IntakeLosses::default(),
                totals_emitted: Instant::now(),
                clock,
                idle: Idle { since: clock.now(), at },
                deadline: of_thread,
                undecoded: Undecoded::default(),
            };
            state.run(known, receiver);
            let trouble = state.undecoded.trouble();
            state.observer.outcome(trouble)
        })?;
        Ok(Self { thread, deadline })
    }

    /// Waits until everything is decoded, but at most 5 s; bytes not decoded by then count as missed. Then each receiver of events
    /// delivers its rest in bounded time, which takes `--otlp` up to 3 s. Blocks. Stop the taps before.
    pub fn finish(self) -> io::Result<Outcome> {
        self.set_deadline(DECODING_LIMIT);
        self.thread.join().map_err(|_panic| io::Error::other("the observing thread failed"))
    }

    /// Stops decoding at `limit` from now.
    pub(super) fn set_deadline(&self, limit: Duration) {
        self.deadline.set(limit);
    }
}

impl Idle {
    /// Notes a delivery that was received at `received` of this thread's clock; `newest` is the time of the newest observation. Returns
    /// false, and notes nothing, if the delivery had no observation: an idle connection still has pings.
    fn note(&mut self, received: Timestamp, newest: Timestamp) -> bool {
        let is_newer = newest > self.at;
        if is_newer {
            *self = Self { since: received, at: newest };
        }
        is_newer
    }

    /// Converts `now` of this thread's clock to the taps' time, with the offset of the wall clock at `now`.
    fn at(&self, now: Timestamp) -> Timestamp {
        let set_forward = now.wall_ahead().saturating_sub(self.since.wall_ahead());
        self.at.plus(now.since(self.since)).with_wall_ahead(self.at.wall_ahead().saturating_add(set_forward))
    }
}

impl State {
    /// Observes the `known` facts, and decodes until the taps are gone or observing fails. Then it drops the receiver, and the taps
    /// continue without it.
    fn run(&mut self, known: Vec<Observation>, mut receiver: IntakeReceiver) {
        let observing = catch_unwind(AssertUnwindSafe(|| {
            for one in known {
                self.observer.observe(one);
            }
            self.observer.publish();
            while !receiver.is_closed() {
                self.turn(&mut receiver);
            }
            self.observer.finish_beside(&self.deadline);
            self.let_the_rest_pass();
        }));
        if observing.is_err() {
            tracing::error!("observing failed and stops here; the traffic continues");
            let why = "observing failed and stopped; the traffic continued, and this report does not cover the rest of it";
            self.observer.outputs.abandon(why);
        }
    }

    /// Decodes the deliveries that have arrived, and writes outputs that are due.
    fn turn(&mut self, receiver: &mut IntakeReceiver) {
        let most = if self.observer.beside.is_some() { beside_logs::PAUSE } else { IDLE };
        let wait = self.observer.outputs.due_in().unwrap_or(IDLE).min(most);
        let mut latest = None;
        for delivered in receiver.drain(wait) {
            if !matches!(delivered.delivery, Delivery::Process(..)) {
                latest = Some(self.clock.now());
            }
            for delivered in self.awaiting_profile.pass(delivered) {
                self.decode(&delivered.delivery);
            }
        }
        self.observer.read_beside();
        let is_observed = latest.is_some_and(|received| self.idle.note(received, self.observer.observer.now()));
        if !is_observed {
            self.let_time_pass();
        }
        if receiver.is_closed() {
            for delivered in self.awaiting_profile.give_up() {
                self.decode(&delivered.delivery);
            }
        }
        self.note_losses(receiver.losses());
        self.observer.note_undelivered();
        if self.totals_emitted.elapsed() >= TOTALS {
            self.totals_emitted = Instant::now();
            self.observer.emit_totals();
        }
        self.observer.flush();
        self.observer.publish();
        self.observer.answer();
    }

    /// Observes a tick if the state depends on the time: a storm is over after a quiet period, and a page shows durations. The time
    /// is computed, since the taps' clocks cannot be read here. While observations wait for a process or for a log, there is no tick, since
    /// it would overtake them.
    fn let_time_pass(&mut self) {
        if !self.awaiting_process.is_empty() || self.observer.is_holding() {
            return;
        }
        let now = self.clock.now();
        let at = self.idle.at(now);
        let is_awaited = self.observer.observer.is_due(at) || self.observer.outputs.is_viewed();
        if is_awaited && at.since(self.observer.observer.now()) >= IDLE {
            self.observer.observe(Observation { at, subject: Subject::Run(RunObservation::Tick) });
            self.idle = Idle { since: now, at };
        }
    }

    /// Observes a last tick, so that the run's duration includes the time after the last delivery.
    fn let_the_rest_pass(&mut self) {
        let at = self.idle.at(self.clock.now());
        if self.awaiting_process.is_empty() && at > self.observer.observer.now() {
            self.observer.observe(Observation { at, subject: Subject::Run(RunObservation::Tick) });
        }
    }

    fn decode(&mut self, delivery: &Delivery) {
        let instead = if self.deadline.has_passed() { self.undecoded.instead_of(delivery) } else { None };
        let delivery = instead.as_ref().unwrap_or(delivery);
        let Self { decoding, awaiting_process, observer, .. } = self;
        let mut emit = |observation| observer.observe(observation);
        match delivery {
            Delivery::Connection(id, event) => {
                let process_follows = matches!(event, TapEvent::Opened { process_follows: true, .. });
                decoding.take(*id, event, &mut |observation| awaiting_process.pass(observation, process_follows, &mut emit));
            }
            Delivery::Process(id, process) => awaiting_process.answer(*id, process.clone(), &mut emit),
            Delivery::Notice(notice) => {
                if let Some(observation) = decoding.notice(notice) {
                    awaiting_process.pass(observation, false, &mut emit);
                }
            }
        }
    }

    /// Observes the connections and notices that the intake dropped for lack of room. No other component knows of them.
    fn note_losses(&mut self, losses: IntakeLosses) {
        let connections = losses.connections.saturating_sub(self.losses.connections);
        let notices = losses.notices.saturating_sub(self.losses.notices);
        self.losses = losses;
        let at = self.observer.observer.now();
        if connections > 0 {
            self.observer.observe(Observation { at, subject: Subject::Tap(TapObservation::ConnectionsUnobserved { connections }) });
        }
        if notices > 0 {
            self.observer.observe(Observation { at, subject: Subject::Tap(TapObservation::NoticesDropped { notices }) });
        }
    }
}

impl RecordingObserver {
    fn observe(&mut self, observation: Observation) {
        match &mut self.beside {
            Some(beside) => beside.hold(observation),
            None => self.take(observation),
        }
    }

    /// Whether observations wait for the log of the API server.
    fn is_holding(&self) -> bool {
        self.beside.as_ref().is_some_and(|beside| !beside.is_empty())
    }

    /// Reads the log of the API server, and takes the observations that have waited for it. After an error, there is no log.
    fn read_beside(&mut self) {
        let Some(mut beside) = self.beside.take() else { return };
        match beside.turn(&mut |observation| self.take(observation)) {
            Ok(()) => self.beside = Some(beside),
            Err(error) => {
                beside.give_up(&mut |observation| self.take(observation));
                self.outputs.fail(format!("stopped reading --audit-log: {error}"));
            }
        }
    }

    /// Takes all observations that wait for the log of the API server, until `deadline` at most.
    fn finish_beside(&mut self, deadline: &Deadline) {
        if let Some(mut beside) = self.beside.take() {
            beside.finish(&|| deadline.has_passed(), &mut |observation| self.take(observation));
        }
    }

    fn take(&mut self, observation: Observation) {
        let recorded = self.outputs.record(&observation);
        self.pass(observation);
        self.note_end_of_capture(recorded);
    }

    fn flush(&mut self) {
        let recorded = self.outputs.flush();
        self.note_end_of_capture(recorded);
    }

    fn publish(&mut self) {
        let Self { observer, outputs, .. } = self;
        outputs.publish(observer);
    }

    fn answer(&mut self) {
        let Self { observer, outputs, .. } = self;
        outputs.answer(observer);
    }

    /// Adds an early end of the capture to the Observer only, since the capture itself cannot record it.
    fn note_end_of_capture(&mut self, recorded: io::Result<()>) {
        if let Err(error) = recorded {
            self.outputs.warn(&format!("stopped writing the capture: {error}"));
            let at = self.observer.now();
            self.pass(Observation { at, subject: Subject::Capture(CaptureObservation::Ended { why: error.to_string() }) });
        }
    }

    /// Counts records that receivers of events could not deliver. The capture does not have them, since a replay delivers nothing.
    fn note_undelivered(&mut self) {
        let records = self.outputs.take_undelivered();
        if records > 0 {
            let at = self.observer.now();
            self.pass(Observation { at, subject: Subject::Run(RunObservation::NotExported { records }) });
        }
    }

    fn pass(&mut self, observation: Observation) {
        injected_fault::inject(Component::Observer, &observation);
        let Self { observer, outputs, .. } = self;
        observer.observe(observation, &mut |event| outputs.event(&event));
        outputs.note_change();
    }

    fn emit_totals(&mut self) {
        let Self { observer, outputs, .. } = self;
        outputs.totals(observer);
    }

    fn outcome(mut self, trouble: Option<String>) -> Outcome {
        self.outputs.end_of_observing();
        let snapshot = catch_unwind(AssertUnwindSafe(|| self.conclude()));
        let snapshot = snapshot.unwrap_or_else(|_panic| {
            self.outputs.abandon("no snapshot could be made because of an internal error; please report it");
            Observer::new(Limits::default()).snapshot()
        });
        let is_complete = !self.outputs.is_abandoned();
        Outcome { snapshot, is_complete, troubles: self.outputs.finish().into_iter().chain(trouble).collect() }
    }

    fn conclude(&mut self) -> Snapshot {
        self.emit_totals();
        let recorded = self.outputs.end_capture();
        self.note_end_of_capture(recorded);
        // A receiver of events may export the last numbers, too.
        let Self { observer, outputs, .. } = self;
        outputs.end_series(observer);
        outputs.finish_sinks();
        self.note_undelivered();
        let snapshot = self.observer.snapshot();
        self.outputs.publish_last(&snapshot);
        snapshot
    }
}

/// The profiles known from the start.
fn known(upstreams: &[Upstream]) -> Vec<Subject> {
    let known = upstreams.iter().filter_map(|upstream| Some((UpstreamName::of(upstream.name.clone()), upstream.profile.clone()?)));
    known
        .map(|(upstream, profile)| Subject::Upstream(upstream, UpstreamObservation::Profile { profile: Box::new(profile) }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_without_observations_do_not_stop_the_time() {
        let seconds = |seconds: u64| Timestamp::from_nanos(seconds * 1_000_000_000);
        let mut idle = Idle { since: seconds(100), at: seconds(1_000) };
        assert!(!idle.note(seconds(150), seconds(1_000)), "a ping");
        assert_eq!(idle.at(seconds(200)), seconds(1_100));
        assert!(idle.note(seconds(190), seconds(1_085)), "an event, observed 5 s after its time");
        assert_eq!(idle.at(seconds(200)), seconds(1_095));
    }
}
