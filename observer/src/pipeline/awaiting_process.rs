//! Holds observations back until the process of a client is known.
//!
//! A tap forwards a client's bytes at once, and the client's process may be found later. But events are emitted as they happen, and
//! are never corrected. Without the process, a client that reconnects and resumes may be mistaken for a new client with its first
//! watch. So the `Opened` observation of such a connection waits, and so do all later observations, of any connection. The Observer
//! and the capture get the same observations in the same order as if the process had been known at once.
//!
//! The observations that wait are decoded. They take much less memory than the forwarded bytes, and none of the intake's limit. The
//! code that registered the connection reports the process, or that it is unknown, within a time limit. No observation waits
//! longer.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

use observer_core::observation::{Body, ConnectionId, ConnectionObservation, ExchangeObservation, Observation, Process, Subject};
use observer_core::wire::{ObjectRef, WatchFrame};

/// The waiting observations, in the order of their arrival.
#[derive(Debug)]
pub(super) struct AwaitingProcess {
    waiting: VecDeque<Waiting>,
    /// Connections whose `Opened` observations wait, each with the result of the lookup if there is one.
    awaited: BTreeMap<ConnectionId, LookUp>,
    bytes: usize,
    /// Maximum memory of waiting observations, in bytes. Beyond it, the process of the first waiting connection stays unknown.
    limit: usize,
}

#[derive(Debug)]
struct Waiting {
    observation: Observation,
    bytes: usize,
}

/// The state of the lookup of a client's process.
#[derive(Debug)]
enum LookUp {
    Awaited,
    Received(Option<Process>),
}

impl AwaitingProcess {
    pub(super) fn within(limit: usize) -> Self {
        Self { waiting: VecDeque::new(), awaited: BTreeMap::new(), bytes: 0, limit }
    }

    /// Whether no observation waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes the next observation, and passes on all that need not wait. `process_follows` is true for the `Opened` observation of
    /// a connection whose process is looked up.
    pub(super) fn pass(&mut self, observation: Observation, process_follows: bool, emit: &mut dyn FnMut(Observation)) {
        if let Subject::Connection(connection, ConnectionObservation::Opened { .. }) = &observation.subject
            && process_follows
        {
            self.awaited.insert(*connection, LookUp::Awaited);
        } else if self.waiting.is_empty() {
            return emit(observation);
        }
        let bytes = memory_of(&observation);
        self.bytes = self.bytes.saturating_add(bytes);
        self.waiting.push_back(Waiting { observation, bytes });
        self.release(emit);
    }

    /// Takes the process of a connection's client, or `None` if it is unknown. Passes on all observations that need not wait any
    /// more.
    pub(super) fn answer(&mut self, connection: ConnectionId, process: Option<Process>, emit: &mut dyn FnMut(Observation)) {
        // If the limit was exceeded, the connection is not in `awaited` any more.
        if let Some(answer) = self.awaited.get_mut(&connection) {
            *answer = LookUp::Received(process);
            self.release(emit);
        }
    }

    fn release(&mut self, emit: &mut dyn FnMut(Observation)) {
        while let Some(observation) = self.next() {
            emit(observation);
        }
    }

    /// Removes the first observation, unless it has to wait.
    fn next(&mut self) -> Option<Observation> {
        let first = &mut self.waiting.front_mut()?.observation.subject;
        if let Subject::Connection(connection, ConnectionObservation::Opened { process, .. }) = first {
            match self.awaited.get_mut(connection) {
                Some(LookUp::Awaited) if self.bytes <= self.limit => return None,
                Some(LookUp::Received(found)) => *process = found.take(),
                Some(LookUp::Awaited) | None => {}
            }
            self.awaited.remove(connection);
        }
        let Waiting { observation, bytes } = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(bytes);
        Some(observation)
    }
}

/// Estimates the memory of an observation in bytes. The estimate is the size of its JSON form: texts have the same length in it,
/// and its syntax is about as long as the allocations' overhead. Items and events take more memory than their JSON form, so their
/// memory is computed, and the larger number counts.
pub(super) fn memory_of(observation: &Observation) -> usize {
    let mut written = Counter(0);
    // If writing fails, the part written so far counts.
    serde_json::to_writer(&mut written, observation).ok();
    let batch = if let Subject::Exchange(_, ExchangeObservation::BodyRead { body: Body::Items(items), .. }) = &observation.subject {
        items.iter().map(ObjectRef::memory).sum()
    } else if let Subject::Exchange(_, ExchangeObservation::BodyRead { body: Body::Events(events), .. }) = &observation.subject {
        events.iter().map(WatchFrame::memory).sum()
    } else {
        0
    };
    size_of::<Observation>().saturating_add(written.0.max(batch))
}

/// Counts the bytes written to it.
struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use observer_core::http::StreamId;
    use observer_core::observation::{ExchangeId, Plaintext, TapObservation, UpstreamName};
    use observer_core::time::Timestamp;
    use observer_core::wire::EventType;

    use super::*;

    #[test]
    fn opening_and_later_observations_wait_for_its_process() {
        let mut stage = Stage::new(1 << 20);
        stage.opens(1, false);
        stage.opens(2, true);
        stage.closes(1);
        stage.opens(3, true);
        stage.closes(2);
        stage.opens(4, false);
        assert_eq!(stage.emitted(), ["1 opened by -"]);
        stage.answers(3, Some(33));
        assert_eq!(stage.emitted(), [""; 0], "the second is not known yet");
        stage.answers(2, Some(22));
        assert_eq!(stage.emitted(), ["2 opened by 22", "1 closed", "3 opened by 33", "2 closed", "4 opened by -"]);
        stage.closes(3);
        assert_eq!(stage.emitted(), ["3 closed"]);
    }

    #[test]
    fn unknown_process_ends_the_wait() {
        let mut stage = Stage::new(1 << 20);
        stage.opens(1, true);
        stage.closes(1);
        stage.answers(1, None);
        assert_eq!(stage.emitted(), ["1 opened by -", "1 closed"]);
    }

    #[test]
    fn full_buffer_gives_up_the_oldest_processes_without_loss() {
        let room = memory_of(&opened(1)) + 2 * memory_of(&closed(1));
        let mut stage = Stage::new(room);
        stage.opens(1, true);
        stage.closes(9);
        stage.closes(9);
        assert_eq!(stage.emitted(), [""; 0]);
        stage.opens(2, true);
        assert_eq!(stage.emitted(), ["1 opened by -", "9 closed", "9 closed"]);
        stage.answers(1, Some(11));
        assert_eq!(stage.emitted(), [""; 0], "it was emitted without");
        stage.answers(2, Some(22));
        assert_eq!(stage.emitted(), ["2 opened by 22"]);
        assert!(stage.held.is_empty() && stage.held.bytes == 0 && stage.held.awaited.is_empty(), "{:?}", stage.held);
    }

    #[test]
    fn long_texts_count_toward_the_memory_bound() {
        let failed =
            |why: String| Observation { at: Timestamp::default(), subject: Subject::Tap(TapObservation::ConnectFailed { why }) };
        assert!(memory_of(&failed("x".repeat(10_000))) >= memory_of(&failed(String::new())) + 10_000);
    }

    /// An event without an identity takes 40 bytes in a capture, and more in memory.
    #[test]
    fn empty_events_count_with_their_memory_size() {
        const EVENTS: usize = 1000;
        let event = WatchFrame {
            event_type: EventType::Unknown,
            object: ObjectRef::default(),
            initial_events_end: false,
            status: None,
            bytes: 2,
        };
        let exchange = ExchangeId { connection: ConnectionId(1), stream: StreamId(1) };
        let subject = Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::Events(vec![event; EVENTS]) });
        assert!(memory_of(&Observation { at: Timestamp::default(), subject }) >= EVENTS * size_of::<WatchFrame>());
    }

    struct Stage {
        held: AwaitingProcess,
        emitted: RefCell<Vec<String>>,
    }

    impl Stage {
        fn new(limit: usize) -> Self {
            Self { held: AwaitingProcess::within(limit), emitted: RefCell::default() }
        }

        fn opens(&mut self, connection: u64, process_follows: bool) {
            self.held.pass(opened(connection), process_follows, &mut |one| self.emitted.borrow_mut().push(line(one)));
        }

        fn closes(&mut self, connection: u64) {
            self.held.pass(closed(connection), false, &mut |one| self.emitted.borrow_mut().push(line(one)));
        }

        fn answers(&mut self, connection: u64, pid: Option<u32>) {
            let process = pid.map(|pid| Process::new(pid, 1, "controller".to_owned()));
            self.held.answer(ConnectionId(connection), process, &mut |one| self.emitted.borrow_mut().push(line(one)));
        }

        /// Returns the observations passed on since the last call.
        fn emitted(&self) -> Vec<String> {
            self.emitted.take()
        }
    }

    fn opened(connection: u64) -> Observation {
        let subject = Subject::Connection(
            ConnectionId(connection),
            ConnectionObservation::Opened {
                upstream: UpstreamName::default(),
                protocol: None,
                process: None,
                container_name: None,
                attached_late: false,
                logged: None,
            },
        );
        Observation { at: Timestamp::default(), subject }
    }

    fn closed(connection: u64) -> Observation {
        let (forwarded, observed) = (Plaintext::default(), Plaintext::default());
        let subject = Subject::Connection(ConnectionId(connection), ConnectionObservation::Closed { forwarded, observed });
        Observation { at: Timestamp::default(), subject }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "there are but these two")]
    fn line(observation: Observation) -> String {
        match observation.subject {
            Subject::Connection(connection, ConnectionObservation::Opened { process, .. }) => {
                format!("{connection} opened by {}", process.map_or_else(|| "-".to_owned(), |process| process.pid.to_string()))
            }
            Subject::Connection(connection, ConnectionObservation::Closed { .. }) => format!("{connection} closed"),
            other => panic!("{other:?}"),
        }
    }
}
