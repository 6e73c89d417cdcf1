//! The thread that sends the records of the queues, with a runtime of its own.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use http::StatusCode;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::account::Account;
use super::answer::Answer;
use super::backoff::{Backoff, Pause};
use super::collector::{Collector, Unreachable};
use super::export_request::Envelope;
use super::queue::Queue;

/// How much longer than its own limit the thread may take to end.
const END_LIMIT: Duration = Duration::from_secs(1);
/// The pause between attempts at the end of a run.
const PAUSE_AT_END: Duration = Duration::from_millis(100);
/// Longest text of a collector that is reported, in characters.
const MAX_MESSAGE: usize = 200;

/// One signal: its records, where they go, and what was lost of them.
pub(super) struct Export {
    pub(super) queue: Arc<Queue>,
    pub(super) collector: Collector,
    pub(super) envelope: Envelope,
    pub(super) account: Arc<Account>,
}

/// The running thread.
pub(super) struct Exporter {
    /// Whether the thread has worked to its end. It is not joined, since it may hang in a call of the system.
    ended: Receiver<bool>,
    /// The time at which the thread ends, once it is asked to.
    closing: watch::Sender<Option<Instant>>,
    queues: Vec<Arc<Queue>>,
    /// How long the rest of the records may take at the end of a run.
    flush: Duration,
}

impl Exporter {
    /// Starts the thread. Signals do not wait for each other. At the end, the rest may take as long as `flush`.
    pub(super) fn start(exports: Vec<Export>, flush: Duration) -> io::Result<Self> {
        let (end, ended) = channel();
        let (closing, until) = watch::channel(None);
        let queues = exports.iter().map(|export| Arc::clone(&export.queue)).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Builder::new().name("otlp".to_owned()).spawn(move || {
            let has_worked = runtime.block_on(run(exports, &until));
            // After the limit, the receiver is gone.
            let _is_awaited = end.send(has_worked);
            // A name lookup that hangs would delay the end.
            runtime.shutdown_background();
        })?;
        Ok(Self { ended, closing, queues, flush })
    }

    /// Sends the rest of the records. Blocks for a bounded time. Returns what went wrong, other than with a collector.
    pub(super) fn finish(&mut self) -> Option<&'static str> {
        self.closing.send_replace(Some(Instant::now() + self.flush));
        self.queues.iter().for_each(|queue| queue.close());
        match self.ended.recv_timeout(self.flush.saturating_add(END_LIMIT)) {
            Ok(true) => None,
            Ok(false) | Err(RecvTimeoutError::Disconnected) => Some("--otlp failed because of an internal error; please report it"),
            Err(RecvTimeoutError::Timeout) => Some("--otlp did not end in time"),
        }
    }
}

/// Sends until the queues are closed and empty, or until the time in `closing` has passed.
async fn run(exports: Vec<Export>, closing: &watch::Receiver<Option<Instant>>) -> bool {
    let mut sending = JoinSet::new();
    for mut export in exports {
        let closing = closing.clone();
        sending.spawn(async move {
            tokio::select! {
                () = export.send_all(closing.clone()) => {}
                () = passed(closing) => {}
            }
        });
    }
    let mut has_worked = true;
    while let Some(sent) = sending.join_next().await {
        has_worked &= sent.is_ok();
    }
    has_worked
}

async fn passed(mut closing: watch::Receiver<Option<Instant>>) {
    let deadline = closing.wait_for(Option::is_some).await.ok().and_then(|deadline| *deadline);
    if let Some(deadline) = deadline {
        sleep_until(deadline).await;
    }
}

impl Export {
    async fn send_all(&mut self, mut closing: watch::Receiver<Option<Instant>>) {
        let mut backoff = Backoff::default();
        // A batch that is sent again has waited for more records already.
        let mut lingers = true;
        while let Some(batch) = self.queue.batch(&self.envelope, lingers).await {
            lingers = true;
            let number = u64::try_from(batch.records).unwrap_or(u64::MAX);
            let asked = match self.collector.post(batch.body).await {
                Ok(Answer::Taken { rejected, message }) => {
                    self.account.note_success();
                    if rejected > 0 {
                        self.account.note_refusal(rejected.min(number), &self.quoted(&message));
                    } else if !message.is_empty() {
                        self.account.note_warning(&self.quoted(&message));
                    }
                    self.queue.remove(batch.records);
                    backoff.reset();
                    continue;
                }
                Ok(Answer::Refused { status }) => {
                    self.account.note_success();
                    self.account.note_refusal(number, &refusal(status));
                    self.queue.remove(batch.records);
                    backoff.reset();
                    continue;
                }
                Ok(Answer::Later { status, after }) => {
                    self.account.note_failure(&status.to_string());
                    after
                }
                Err(Unreachable(why)) => {
                    self.account.note_failure(&self.collector.redact(&why));
                    None
                }
            };
            lingers = false;
            let chance = RandomState::new().hash_one(number);
            pause(backoff.next(asked, chance), &mut closing).await;
        }
    }

    /// A message of the collector, without credentials.
    fn quoted(&self, message: &str) -> String {
        let message = self.collector.redact(message);
        if message.is_empty() { "no reason given".to_owned() } else { message.chars().take(MAX_MESSAGE).collect() }
    }
}

/// Waits before the next attempt. The end of a run shortens only what the collector did not ask for.
async fn pause(Pause { asked, rest }: Pause, closing: &mut watch::Receiver<Option<Instant>>) {
    sleep(asked).await;
    if closing.borrow().is_some() {
        return sleep(rest.min(PAUSE_AT_END)).await;
    }
    tokio::select! {
        () = sleep(rest) => {}
        _closing = closing.wait_for(Option::is_some) => {}
    }
}

/// A status that is final, with what to check.
fn refusal(status: StatusCode) -> String {
    let hint = match status.as_u16() {
        401 | 403 => "; check OTEL_EXPORTER_OTLP_HEADERS",
        404 | 405 => "; check the path of its URL",
        300..=399 => "; redirects are not followed: check its URL",
        _ => "",
    };
    format!("{status}{hint}")
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn end_of_a_run_shortens_what_the_collector_did_not_ask_for() {
        let day = Duration::from_hours(24);
        let (closing, mut until) = watch::channel(None);
        let waiting = async {
            let mut until = until.clone();
            pause(Pause { asked: Duration::ZERO, rest: day }, &mut until).await;
        };
        let ending = async {
            tokio::task::yield_now().await;
            closing.send_replace(Some(Instant::now() + day));
        };
        timeout(Duration::from_mins(1), async { tokio::join!(waiting, ending) }).await.unwrap();
        timeout(Duration::from_mins(1), pause(Pause { asked: Duration::ZERO, rest: day }, &mut until)).await.unwrap();
        let asked = Pause { asked: day, rest: Duration::ZERO };
        assert!(timeout(PAUSE_AT_END, pause(asked, &mut until)).await.is_err());
    }
}
