//! Counts the records that were not delivered, and reports why.

use std::convert::Infallible;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::pipeline::NoSeries;
use crate::view::counted;

/// The shortest time between two log lines with a text of the collector, which may differ each time.
const BETWEEN_LINES: Duration = Duration::from_mins(1);

/// The counts of one signal.
pub(super) struct Account {
    /// `scheme://host:port`. A path may hold a token.
    origin: String,
    /// One record of this signal in words.
    record: Record,
    counts: Mutex<Counts>,
    /// Wakes [`Account::log_losses`].
    lost: Notify,
}

/// The kind of a signal's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    Log,
    /// A number of a metric. Only those of the end can be lost.
    Point,
    Span,
}

#[derive(Default)]
struct Counts {
    /// Records without room in the queue.
    without_room: u64,
    /// Records that could not be made.
    unmade: u64,
    /// Why the first of these could not be made.
    unmade_because: String,
    /// Records that the collector refused or rejected.
    refused: u64,
    /// Records that were still in the queue at the end.
    left: u64,
    /// Those of all these that were already returned by [`Account::take`].
    taken: u64,
    /// Why the collector refused or rejected records, the last time.
    refusal: String,
    /// Why records are not delivered now; empty if they are.
    failure: String,
    refusals: Log,
    warnings: Log,
    logged: Logged,
}

/// Kinds of lines that were logged, and are not to be repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Logged {
    without_room: bool,
    unmade: bool,
    /// Until numbers can be read again.
    unread: bool,
}

/// The last line of a kind.
#[derive(Default)]
struct Log {
    text: String,
    at: Option<Instant>,
}

// The observing thread does not wait for a slow stderr: it logs nothing, and the thread that exports logs without the lock.
impl Account {
    /// No record is lost yet.
    pub(super) fn new(origin: String, record: Record) -> Self {
        Self { origin, record, counts: Mutex::default(), lost: Notify::new() }
    }

    /// A record had no room. [`Account::log_losses`] logs the first.
    pub(super) fn note_without_room(&self) {
        let mut counts = self.counts();
        counts.without_room = counts.without_room.saturating_add(1);
        if counts.without_room == 1 {
            self.lost.notify_one();
        }
    }

    /// A record could not be made. [`Account::log_losses`] logs the first.
    pub(super) fn note_unmade(&self, why: &dyn fmt::Display) {
        let mut counts = self.counts();
        counts.unmade = counts.unmade.saturating_add(1);
        if counts.unmade == 1 {
            counts.unmade_because = why.to_string();
            self.lost.notify_one();
        }
    }

    /// Logs losses on the observing thread as they happen, for as long as it is awaited.
    pub(super) async fn log_losses(&self) -> Infallible {
        loop {
            self.lost.notified().await;
            self.log_new_losses();
        }
    }

    /// Logs such losses that were not logged yet.
    pub(super) fn log_new_losses(&self) {
        let (is_without_room, unmade) = {
            let mut counts = self.counts();
            let now = Logged { without_room: counts.without_room > 0, unmade: counts.unmade > 0, ..counts.logged };
            let before = std::mem::replace(&mut counts.logged, now);
            let unmade = (now.unmade && !before.unmade).then(|| counts.unmade_because.clone());
            (now.without_room && !before.without_room, unmade)
        };
        if is_without_room {
            tracing::warn!("the queue of --otlp is full: {}s for {} are dropped, and counted", self.record, self.origin);
        }
        if let Some(why) = unmade {
            tracing::warn!("cannot make an {} of an event: {why}; please report it", self.record);
        }
    }

    /// Numbers could not be read. Of several times in a row, only the first is logged.
    pub(super) fn note_unread(&self, why: NoSeries) {
        let is_first = !std::mem::replace(&mut self.counts().logged.unread, true);
        // The observing thread logs why there will be none.
        if is_first && why == NoSeries::Busy {
            tracing::warn!("cannot export {}s now: {why}; trying again at the next interval", self.record);
        }
    }

    /// Numbers could be read.
    pub(super) fn note_read(&self) {
        self.counts().logged.unread = false;
    }

    /// The collector will never take these records. A reason is logged if it differs from the last, and at most once a minute.
    pub(super) fn note_refusal(&self, records: u64, why: &str) {
        let is_logged = {
            let mut counts = self.counts();
            counts.refused = counts.refused.saturating_add(records);
            why.clone_into(&mut counts.refusal);
            counts.refusals.is_due(why, Instant::now())
        };
        if is_logged {
            self.log_refusal(records, why);
        }
    }

    /// The collector will never take these records, but newer ones take their place: they do not count. The reason is logged like
    /// that of a refusal.
    pub(super) fn note_refusal_for_now(&self, records: u64, why: &str) {
        let is_logged = self.counts().refusals.is_due(why, Instant::now());
        if is_logged {
            self.log_refusal(records, why);
        }
    }

    /// The collector took all records, and warned. Its text is logged like the reason of a refusal.
    pub(super) fn note_warning(&self, text: &str) {
        let is_logged = self.counts().warnings.is_due(text, Instant::now());
        if is_logged {
            tracing::warn!("the collector at {} warns: {text}", self.origin);
        }
    }

    /// An attempt failed, and another will follow. Only the first of a series is logged.
    pub(super) fn note_failure(&self, why: &str) {
        let is_first = std::mem::replace(&mut self.counts().failure, why.to_owned()).is_empty();
        if is_first {
            tracing::warn!("cannot export {}s to {}: {why}; trying again", self.record, self.origin);
        }
    }

    /// The collector answered with a success.
    pub(super) fn note_success(&self) {
        let failure = std::mem::take(&mut self.counts().failure);
        if !failure.is_empty() {
            tracing::info!("exporting {}s to {} again", self.record, self.origin);
        }
    }

    /// Records that no attempt will follow for.
    pub(super) fn note_left(&self, records: usize) {
        self.counts().left = u64::try_from(records).unwrap_or(u64::MAX);
    }

    /// The fate of so many of the records in [`Account::note_left`] is known.
    pub(super) fn note_settled(&self, records: u64) {
        let mut counts = self.counts();
        counts.left = counts.left.saturating_sub(records);
    }

    /// Number of records that were lost since the last call.
    pub(super) fn take(&self) -> u64 {
        let mut counts = self.counts();
        let all = counts.lost();
        all.saturating_sub(std::mem::replace(&mut counts.taken, all))
    }

    /// All losses in one sentence; `None` if there are none.
    pub(super) fn trouble(&self) -> Option<String> {
        let counts = self.counts();
        let lost = counts.lost();
        if lost == 0 {
            return None;
        }
        let parts = [
            (counts.without_room, "without room in the queue".to_owned()),
            (counts.unmade, "not made because of an internal error".to_owned()),
            (counts.refused, format!("refused ({})", counts.refusal)),
            (counts.left, unsent(&counts.failure)),
        ];
        let parts = parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, words)| format!("{number} {words}"));
        let parts: Vec<String> = parts.collect();
        let lost = match self.record {
            Record::Point => counted(lost, &format!("final {}", self.record)),
            Record::Log | Record::Span => counted(lost, &self.record.to_string()),
        };
        Some(format!("{lost} did not reach {}: {}", self.origin, parts.join(", ")))
    }

    fn log_refusal(&self, records: u64, why: &str) {
        let number = counted(records, &self.record.to_string());
        tracing::warn!("the collector at {} did not take {number}: {why}", self.origin);
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Log => "OTLP record",
            Self::Point => "OTLP data point",
            Self::Span => "OTLP span",
        })
    }
}

impl Counts {
    fn lost(&self) -> u64 {
        self.without_room.saturating_add(self.unmade).saturating_add(self.refused).saturating_add(self.left)
    }
}

impl Log {
    /// Whether `text` is to be logged now.
    fn is_due(&mut self, text: &str, now: Instant) -> bool {
        let is_early = self.at.is_some_and(|at| now.saturating_duration_since(at) < BETWEEN_LINES);
        if is_early || self.text == text {
            return false;
        }
        text.clone_into(&mut self.text);
        self.at = Some(now);
        true
    }
}

fn unsent(failure: &str) -> String {
    if failure.is_empty() { "unsent at the end".to_owned() } else { format!("unsent at the end ({failure})") }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread::spawn;

    use super::*;

    #[test]
    fn each_loss_is_counted_once_and_explained() {
        let account = account(Record::Log);
        assert_eq!((account.take(), account.trouble()), (0, None));
        account.note_without_room();
        account.note_refusal(3, "400 Bad Request");
        account.note_unmade(&"no object");
        assert_eq!((account.take(), account.take()), (5, 0));
        account.note_failure("connection refused");
        account.note_left(2);
        assert_eq!(account.take(), 2);
        assert_eq!(
            account.trouble().unwrap(),
            "7 OTLP records did not reach http://collector:4318: 1 without room in the queue, 1 not made because of an internal \
             error, 3 refused (400 Bad Request), 2 unsent at the end (connection refused)"
        );
    }

    #[test]
    fn last_numbers_are_left_until_their_fate_is_known() {
        let account = account(Record::Point);
        account.note_refusal_for_now(9, "400 Bad Request");
        assert_eq!((account.take(), account.trouble()), (0, None));
        account.note_left(7);
        account.note_settled(3);
        account.note_settled(2);
        account.note_refusal(1, "404 Not Found");
        assert_eq!((account.take(), account.take()), (3, 0));
        assert_eq!(
            account.trouble().unwrap(),
            "3 final OTLP data points did not reach http://collector:4318: 1 refused (404 Not Found), 2 unsent at the end"
        );
    }

    #[test]
    fn warning_is_no_reason_of_a_refusal() {
        let account = account(Record::Span);
        account.note_refusal(1, "400 Bad Request");
        account.note_warning("deprecated");
        assert_eq!(account.trouble().unwrap(), "1 OTLP span did not reach http://collector:4318: 1 refused (400 Bad Request)");
    }

    #[test]
    fn texts_of_a_collector_are_logged_once_a_minute_if_they_differ() {
        let (mut log, begun) = (Log::default(), Instant::now());
        for (second, text, expected) in [
            (0, "a", true),
            (1, "a", false),
            (2, "b", false),
            (60, "b", true),
            (61, "a", false),
            (200, "b", false),
            (200, "a", true),
        ] {
            assert_eq!(log.is_due(text, begun + Duration::from_secs(second)), expected, "{second} s: {text}");
        }
    }

    #[test]
    fn slow_log_delays_no_other_thread() {
        let (begin, beginning) = channel();
        let (release, released) = channel();
        let log = Mutex::new(Some((begin, released)));
        let subscriber = tracing_subscriber::fmt().with_writer(move || Slow(log.lock().unwrap().take())).finish();
        let account = Arc::new(account(Record::Log));
        let exporting = Arc::clone(&account);
        let exporting =
            spawn(move || tracing::subscriber::with_default(subscriber, || exporting.note_failure("connection refused")));
        beginning.recv().unwrap();
        let (answer, answered) = channel();
        let observing = Arc::clone(&account);
        spawn(move || {
            observing.note_left(1);
            answer.send((observing.take(), observing.trouble().is_some())).unwrap();
        });
        assert_eq!(answered.recv_timeout(Duration::from_mins(1)), Ok((1, true)));
        release.send(()).unwrap();
        exporting.join().unwrap();
    }

    #[test]
    fn observing_thread_logs_no_loss_itself() {
        let account = account(Record::Log);
        let lose = || {
            account.note_without_room();
            account.note_unmade(&"no object");
            account.note_without_room();
            account.note_unmade(&"no string");
        };
        assert_eq!(logged(lose), "");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let lines = logged(|| {
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    never = account.log_losses() => match never {},
                    () = std::future::ready(()) => {}
                }
            });
        });
        let lines: Vec<_> = lines.lines().map(|line| line.split_once("account: ").unwrap().1).collect();
        assert_eq!(
            lines,
            [
                "the queue of --otlp is full: OTLP records for http://collector:4318 are dropped, and counted",
                "cannot make an OTLP record of an event: no object; please report it",
            ]
        );
        assert_eq!(logged(|| (lose(), account.log_new_losses()).1), "", "only the first");
        assert_eq!(account.take(), 8);
    }

    #[test]
    fn busy_observing_thread_is_logged_once_in_a_row() {
        let account = account(Record::Point);
        let lines = logged(|| {
            for _interval in 0..3 {
                account.note_unread(NoSeries::Busy);
            }
        });
        let expected = "cannot export OTLP data points now: the observing thread is busy; trying again at the next interval\n";
        assert!(lines.ends_with(expected) && lines.lines().count() == 1, "{lines}");
        account.note_read();
        assert!(logged(|| account.note_unread(NoSeries::Busy)).ends_with(expected));
        account.note_read();
        assert_eq!(logged(|| account.note_unread(NoSeries::Failed)), "", "its reason is logged elsewhere");
    }

    /// The lines that `act` logs.
    fn logged(act: impl FnOnce()) -> String {
        let log = tempfile::NamedTempFile::new().unwrap();
        let writer = Arc::new(log.reopen().unwrap());
        let subscriber = tracing_subscriber::fmt().with_writer(writer).with_ansi(false).without_time().finish();
        tracing::subscriber::with_default(subscriber, act);
        std::fs::read_to_string(log.path()).unwrap()
    }

    /// A log that is not read until it is released.
    struct Slow(Option<(Sender<()>, Receiver<()>)>);

    impl io::Write for Slow {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            if let Some((begin, released)) = self.0.take() {
                begin.send(()).map_err(io::Error::other)?;
                released.recv().map_err(io::Error::other)?;
            }
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn account(record: Record) -> Account {
        Account::new("http://collector:4318".to_owned(), record)
    }
}
