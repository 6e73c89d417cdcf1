//! The queue between the observing thread and a collector: encoded records, bounded in bytes.
//!
//! A record leaves it when the collector has taken or refused it, so the bound includes the request under way. Offering never
//! waits.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::export_request::Envelope;
use crate::memory_budget::OTLP_BATCH;

/// How long the first record of a batch waits for more.
const LINGER: Duration = Duration::from_secs(1);
/// Size in bytes at which a batch waits no longer, and which it exceeds only if its first record does.
const BATCH_BYTES: usize = OTLP_BATCH;
/// Size of a usual record. With less room than that, records are not even encoded.
const USUAL_RECORD: usize = 1024;
/// Estimated memory of a record beside its bytes.
const OVERHEAD: usize = 48;

/// Records in their order.
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Notify,
    bound: usize,
    linger: Duration,
}

#[derive(Default)]
struct State {
    records: VecDeque<Vec<u8>>,
    bytes: usize,
    is_closing: bool,
}

/// The body of a request, and the number of its records.
pub(super) struct Batch {
    pub(super) body: Vec<u8>,
    pub(super) records: usize,
}

impl Queue {
    /// A queue for `bound` bytes.
    pub(super) fn new(bound: usize) -> Self {
        Self { state: Mutex::default(), changed: Notify::new(), bound, linger: LINGER }
    }

    /// Whether a record of usual size has room.
    pub(super) fn has_room(&self) -> bool {
        self.state().bytes.saturating_add(USUAL_RECORD) <= self.bound
    }

    /// Appends a record, unless it has no room. Returns whether it had.
    pub(super) fn offer(&self, record: Vec<u8>) -> bool {
        let mut state = self.state();
        let bytes = state.bytes.saturating_add(memory(&record));
        if bytes > self.bound {
            return false;
        }
        state.bytes = bytes;
        state.records.push_back(record);
        let wakes = state.records.len() == 1 || bytes >= BATCH_BYTES;
        drop(state);
        if wakes {
            self.changed.notify_one();
        }
        true
    }

    /// No records follow: batches wait for none.
    pub(super) fn close(&self) {
        self.state().is_closing = true;
        self.changed.notify_one();
    }

    /// Number of records in the queue.
    pub(super) fn len(&self) -> usize {
        self.state().records.len()
    }

    /// The first records, once they have waited for more if the batch `lingers`; `None` when the queue is closed and empty. They
    /// stay in the queue. There must be one caller at a time.
    pub(super) async fn batch(&self, envelope: &Envelope, lingers: bool) -> Option<Batch> {
        while self.state().records.is_empty() {
            if self.state().is_closing {
                return None;
            }
            self.changed.notified().await;
        }
        let until = Instant::now() + self.linger;
        while lingers && !self.is_ready() {
            if timeout_at(until, self.changed.notified()).await.is_err() {
                break;
            }
        }
        Some(self.state().batch(envelope))
    }

    /// Removes the first `records`, which need not be sent again.
    pub(super) fn remove(&self, records: usize) {
        let mut state = self.state();
        let number = records.min(state.records.len());
        let bytes: usize = state.records.drain(..number).map(|record| memory(&record)).sum();
        state.bytes = state.bytes.saturating_sub(bytes);
    }

    fn is_ready(&self) -> bool {
        let state = self.state();
        state.is_closing || state.bytes >= BATCH_BYTES
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn batch(&self, envelope: &Envelope) -> Batch {
        let mut bytes = 0_usize;
        let fitting = self.records.iter().take_while(|record| {
            bytes = bytes.saturating_add(record.len());
            bytes <= BATCH_BYTES
        });
        let records = fitting.count().max(1);
        let first = self.records.iter().take(records).map(Vec::as_slice);
        Batch { body: envelope.request(first), records: records.min(self.records.len()) }
    }
}

fn memory(record: &Vec<u8>) -> usize {
    record.capacity() + OVERHEAD
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
    use opentelemetry_proto::tonic::logs::v1::LogRecord;
    use prost::Message;

    use super::*;
    use crate::otlp::resource::Resource;

    #[test]
    fn records_beyond_the_bound_are_refused_until_some_are_removed() {
        let queue = Queue::new(3 * (100 + OVERHEAD));
        assert_eq!([(); 4].map(|()| queue.offer(vec![0; 100])), [true, true, true, false]);
        assert!(!queue.has_room());
        queue.remove(1);
        assert_eq!([(); 2].map(|()| queue.offer(vec![0; 100])), [true, false]);
        queue.remove(9);
        assert_eq!((queue.len(), queue.state().bytes), (0, 0));
    }

    #[tokio::test]
    async fn batch_stays_in_the_queue_until_it_is_removed() {
        let queue = closing(&[1, 2]);
        for _ in 0..2 {
            assert_eq!(names(&queue).await, Some(vec![1, 2]));
        }
        queue.remove(2);
        assert_eq!(names(&queue).await, None);
    }

    #[tokio::test]
    async fn batch_is_bounded_in_bytes_and_has_one_record_at_least() {
        let queue = closing(&[BATCH_BYTES + 1, BATCH_BYTES / 2, BATCH_BYTES / 3, BATCH_BYTES / 3]);
        for expected in [vec![BATCH_BYTES + 1], vec![BATCH_BYTES / 2, BATCH_BYTES / 3], vec![BATCH_BYTES / 3]] {
            assert_eq!(names(&queue).await, Some(expected.clone()));
            queue.remove(expected.len());
        }
    }

    #[tokio::test]
    async fn record_offered_while_a_batch_lingers_is_in_it() {
        let queue = Queue { linger: Duration::from_hours(1), ..Queue::new(1 << 20) };
        assert!(queue.offer(record(5)));
        let later = async {
            tokio::task::yield_now().await;
            assert!(queue.offer(record(6)));
            queue.close();
        };
        assert_eq!(tokio::join!(names(&queue), later).0, Some(vec![5, 6]));
    }

    #[tokio::test]
    async fn batch_that_is_sent_again_does_not_linger() {
        let queue = Queue { linger: Duration::from_hours(1), ..Queue::new(1 << 20) };
        assert!(queue.offer(record(5)));
        let batch = queue.batch(&Envelope::new(&Resource::new("", None).unwrap()), false).await;
        assert_eq!(batch.unwrap().records, 1);
    }

    fn closing(lengths: &[usize]) -> Queue {
        let queue = Queue::new(16 << 20);
        assert!(lengths.iter().all(|length| queue.offer(record(*length))));
        queue.close();
        queue
    }

    /// A record whose name has this length.
    fn record(length: usize) -> Vec<u8> {
        LogRecord { event_name: "x".repeat(length), ..LogRecord::default() }.encode_to_vec()
    }

    /// The lengths of the names in the next batch.
    async fn names(queue: &Queue) -> Option<Vec<usize>> {
        let batch = queue.batch(&Envelope::new(&Resource::new("", None).unwrap()), true).await?;
        let request = ExportLogsServiceRequest::decode(batch.body.as_slice()).unwrap();
        let records: Vec<_> = request.resource_logs[0].scope_logs[0].log_records.iter().map(|one| one.event_name.len()).collect();
        assert_eq!(records.len(), batch.records);
        Some(records)
    }
}
