//! Hands the numbers of the core to readers that ask for them. While none asks, nothing is copied.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use observer_core::observer::Observer;
use observer_core::series::{ProbeAddresses, ProbeFiles, Samples};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::intake::Waker;

/// How long a reader waits for an answer. The observing thread may be busy with a long list.
const LIMIT: Duration = Duration::from_secs(5);

/// The pause after an answer, as a multiple of the time to make it. So answers take at most a fifth of the time.
const PAUSE: u32 = 4;

/// Longest wait of a replay for its next observation, short enough for the clock of any system.
const LONGEST_WAIT: Duration = Duration::from_secs(1 << 30);

/// Maximum number of readers that wait for an answer.
const MOST_WAITING: usize = 8;

type Answer = oneshot::Sender<Arc<Samples>>;

/// A reader of the numbers. All its clones ask the same Observer.
#[derive(Clone, Debug)]
pub struct SeriesReader {
    questions: SyncSender<Answer>,
    waker: Arc<OnceLock<Waker>>,
    last: Arc<Last>,
    source: Weak<()>,
}

/// Answers the readers, beside an Observer.
#[derive(Debug)]
pub struct SeriesSource {
    /// `None` after a failure.
    questions: Option<Receiver<Answer>>,
    waker: Arc<OnceLock<Waker>>,
    last: Arc<Last>,
    waiting: Vec<Answer>,
    /// Identifiers of suppressed findings.
    mute: Vec<String>,
    due: Instant,
    _alive: Arc<()>,
}

/// The numbers at the end of observing.
#[derive(Debug, Default)]
struct Last {
    is_wanted: AtomicBool,
    samples: OnceLock<Arc<Samples>>,
}

/// Why there are no numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSeries {
    /// Observing is over, or failed.
    #[error("observing has ended")]
    Ended,
    /// Observing continues, but cannot make the numbers.
    #[error("the numbers could not be made because of an internal error; please report it")]
    Failed,
    /// The observing thread did not answer in time, or too many readers wait for it.
    #[error("the observing thread is busy")]
    Busy,
}

impl SeriesReader {
    /// Returns a reader, and the source of its numbers, which leave out the findings in `mute`.
    pub fn begin(mute: &[String]) -> (Self, SeriesSource) {
        let (sender, questions) = sync_channel(MOST_WAITING);
        let (waker, last, alive) = (Arc::new(OnceLock::new()), Arc::new(Last::default()), Arc::new(()));
        let reader = Self { questions: sender, waker: Arc::clone(&waker), last: Arc::clone(&last), source: Arc::downgrade(&alive) };
        let (waiting, mute, due) = (Vec::new(), mute.to_vec(), Instant::now());
        (reader, SeriesSource { questions: Some(questions), waker, last, waiting, mute, due, _alive: alive })
    }

    /// Returns the present numbers. Before the Observer exists, it waits for them.
    pub async fn read(&self) -> Result<Arc<Samples>, NoSeries> {
        let (answer, answered) = oneshot::channel();
        self.questions.try_send(answer).map_err(|error| match error {
            std::sync::mpsc::TrySendError::Full(_) => NoSeries::Busy,
            std::sync::mpsc::TrySendError::Disconnected(_) => self.none(),
        })?;
        if let Some(waker) = self.waker.get() {
            waker.wake();
        }
        match timeout(LIMIT, answered).await {
            Ok(Ok(samples)) => Ok(samples),
            Ok(Err(_dropped)) => Err(self.none()),
            Err(_elapsed) => Err(NoSeries::Busy),
        }
    }

    /// Asks for [`SeriesReader::last`]. Without it, the end of observing copies nothing.
    pub fn want_last(&self) {
        self.last.is_wanted.store(true, Ordering::Relaxed);
    }

    /// The numbers at the end of observing; `None` before it, or if no reader wanted them before it. They stay while there is a
    /// reader.
    pub fn last(&self) -> Option<Arc<Samples>> {
        self.last.samples.get().cloned()
    }

    /// Whether observing has not ended.
    pub fn is_alive(&self) -> bool {
        self.source.strong_count() > 0
    }

    /// Why the source answers no more.
    fn none(&self) -> NoSeries {
        if self.is_alive() { NoSeries::Failed } else { NoSeries::Ended }
    }

    /// The files of the probe; `None` without one.
    pub fn probe_files(&self) -> Option<ProbeFiles> {
        self.waker.get().and_then(Waker::probe_files)
    }

    /// The addresses of the probe's API servers; `None` without one.
    pub fn probe_addresses(&self) -> Option<ProbeAddresses> {
        self.waker.get().and_then(Waker::probe_addresses)
    }

    /// Bytes that wait to be decoded; 0 for a replay, which has no queue.
    pub fn queued_bytes(&self) -> usize {
        self.waker.get().map_or(0, Waker::queued)
    }
}

impl SeriesSource {
    /// Readers wake the observing thread with `waker`. The first call decides.
    pub(super) fn wake_by(&self, waker: Waker) {
        self.waker.get_or_init(|| waker);
    }

    /// Whether a reader waits.
    pub fn is_asked(&mut self) -> bool {
        self.waiting.retain(|answer| !answer.is_closed());
        let room = MOST_WAITING.saturating_sub(self.waiting.len());
        self.waiting.extend(self.questions.iter().flat_map(Receiver::try_iter).take(room));
        !self.waiting.is_empty()
    }

    /// Time until the readers that wait are answered; `None` if none waits.
    pub(super) fn due_in(&self) -> Option<Duration> {
        (!self.waiting.is_empty()).then(|| self.due.saturating_duration_since(Instant::now()))
    }

    /// Answers all readers that wait, unless the last answer was made just before.
    pub fn answer(&mut self, observer: &Observer) {
        if self.is_asked() && self.due_in() == Some(Duration::ZERO) {
            let begun = Instant::now();
            let samples = Arc::new(observer.samples_without(&self.mute));
            self.due = Instant::now() + begun.elapsed() * PAUSE;
            for answer in self.waiting.drain(..) {
                // A reader that no longer waits needs no answer.
                answer.send(Arc::clone(&samples)).ok();
            }
        }
    }

    /// Refuses all readers from now on, because their numbers cannot be made.
    pub(super) fn fail(&mut self) {
        self.questions = None;
        self.waiting = Vec::new();
    }

    /// Keeps the numbers if a reader wants them after the end. The first call decides.
    pub fn end(&self, observer: &Observer) {
        if self.questions.is_some() && self.last.is_wanted.load(Ordering::Relaxed) {
            self.last.samples.get_or_init(|| Arc::new(observer.samples_without(&self.mute)));
        }
    }

    /// Answers readers for this time, or once if it is zero. For a replay that waits for the time of its next observation.
    pub fn answer_for(&mut self, time: Duration, observer: &Observer) {
        self.answer(observer);
        if time.is_zero() {
            return;
        }
        // A capture replayed at a tiny speed waits for centuries.
        let until = Instant::now() + time.min(LONGEST_WAIT);
        loop {
            self.answer(observer);
            let rest = until.saturating_duration_since(Instant::now());
            let wait = self.due_in().unwrap_or(rest).min(rest);
            match self.questions.as_ref().map(|questions| questions.recv_timeout(wait)) {
                Some(Ok(answer)) => self.waiting.push(answer),
                Some(Err(RecvTimeoutError::Timeout)) if rest.is_zero() => return,
                Some(Err(RecvTimeoutError::Timeout)) => {}
                Some(Err(RecvTimeoutError::Disconnected)) | None => {
                    std::thread::sleep(until.saturating_duration_since(Instant::now()));
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use observer_core::observer::Limits;
    use tokio::runtime::{Builder, Runtime};

    use super::*;

    #[test]
    fn readers_that_wait_share_one_copy() {
        let (reader, mut source) = SeriesReader::begin(&[]);
        let observer = Observer::new(Limits::default());
        let clone = reader.clone();
        let both = async { tokio::join!(reader.read(), clone.read(), async { source.answer(&observer) }) };
        let (one, other, ()) = runtime().block_on(both);
        assert!(Arc::ptr_eq(&one.unwrap(), &other.unwrap()));
        assert!(!source.is_asked());
    }

    #[test]
    fn reader_learns_that_observing_has_ended() {
        let (reader, source) = SeriesReader::begin(&[]);
        let (waited, ()) = runtime().block_on(async { tokio::join!(reader.read(), async { drop(source) }) });
        assert_eq!(waited.unwrap_err(), NoSeries::Ended);
        assert_eq!(runtime().block_on(reader.read()).unwrap_err(), NoSeries::Ended);
        assert!(reader.last().is_none(), "observing failed");
    }

    #[test]
    fn last_numbers_outlive_observing() {
        let (reader, source) = SeriesReader::begin(&[]);
        reader.want_last();
        assert!(reader.last().is_none());
        source.end(&Observer::new(Limits::default()));
        drop(source);
        assert!(Arc::ptr_eq(&reader.last().unwrap(), &reader.clone().last().unwrap()));
    }

    #[test]
    fn last_numbers_are_copied_only_if_a_reader_wants_them() {
        let (reader, source) = SeriesReader::begin(&[]);
        source.end(&Observer::new(Limits::default()));
        assert!(reader.last().is_none());
    }

    #[test]
    fn reader_learns_that_only_its_numbers_have_failed() {
        let (reader, mut source) = SeriesReader::begin(&[]);
        let (waited, ()) = runtime().block_on(async { tokio::join!(reader.read(), async { source.fail() }) });
        assert_eq!(waited.unwrap_err(), NoSeries::Failed);
        assert_eq!(runtime().block_on(reader.read()).unwrap_err(), NoSeries::Failed);
        assert!(reader.is_alive() && !source.is_asked());
    }

    #[test]
    fn number_of_waiting_readers_is_bounded() {
        let (reader, mut source) = SeriesReader::begin(&[]);
        let observer = Observer::new(Limits::default());
        let answered = runtime().block_on(async {
            let reads: Vec<_> = (0..=MOST_WAITING).map(|_| reader.read()).collect();
            let reads = futures_util::future::join_all(reads);
            tokio::join!(reads, async { source.answer(&observer) }).0
        });
        let busy = answered.iter().filter(|answer| matches!(answer, Err(NoSeries::Busy))).count();
        assert_eq!((busy, answered.len()), (1, MOST_WAITING + 1));
    }

    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_time().build().unwrap()
    }
}
