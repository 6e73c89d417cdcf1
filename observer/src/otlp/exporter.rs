//! The thread that sends the records of the queues and the numbers of metrics, with a runtime of its own.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use observer_core::series::Samples;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::backoff::Backoff;
use super::closing::{Closing, passed, pause};
use super::export_request::Envelope;
use super::metrics_export::MetricsExport;
use super::queue::Queue;
use super::sender::{Fate, Refusal, Sender};
use crate::backoff::chance;

/// How much longer than its own limit the thread may take to end.
const END_LIMIT: Duration = Duration::from_secs(1);
/// One signal: its records, and where they go.
pub(super) struct Export {
    pub(super) queue: Arc<Queue>,
    pub(super) sender: Sender,
    pub(super) envelope: Envelope,
}

/// The running thread.
pub(super) struct Exporter {
    /// Whether the thread has worked to its end. It is not joined, since it may hang in a call of the system.
    ended: Receiver<bool>,
    /// Set once the thread is asked to end.
    closing: watch::Sender<Option<Closing>>,
    queues: Vec<Arc<Queue>>,
    /// How long the rest of the records may take at the end of a run.
    flush: Duration,
}

impl Exporter {
    /// Starts the thread. Signals do not wait for each other. At the end, the rest may take as long as `flush`.
    pub(super) fn start(exports: Vec<Export>, metrics: MetricsExport, flush: Duration) -> io::Result<Self> {
        let (end, ended) = channel();
        let (closing, until) = watch::channel(None);
        let queues = exports.iter().map(|export| Arc::clone(&export.queue)).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Builder::new().name("otlp".to_owned()).spawn(move || {
            let has_worked = runtime.block_on(run(exports, metrics, &until));
            // After the limit, the receiver is gone.
            let _is_awaited = end.send(has_worked);
            // A name lookup that hangs would delay the end.
            runtime.shutdown_background();
        })?;
        Ok(Self { ended, closing, queues, flush })
    }

    /// Sends the rest of the records, and the `last` numbers. Blocks for a bounded time. Returns what went wrong, other than with a
    /// collector.
    pub(super) fn finish(&mut self, last: Option<Arc<Samples>>) -> Option<&'static str> {
        self.closing.send_replace(Some(Closing { deadline: Instant::now() + self.flush, last }));
        self.queues.iter().for_each(|queue| queue.close());
        match self.ended.recv_timeout(self.flush.saturating_add(END_LIMIT)) {
            Ok(true) => None,
            Ok(false) | Err(RecvTimeoutError::Disconnected) => Some("--otlp failed because of an internal error; please report it"),
            Err(RecvTimeoutError::Timeout) => Some("--otlp did not end in time"),
        }
    }
}

/// Sends until the queues are closed and empty and the last numbers are sent, or until the time in `closing` has passed.
async fn run(exports: Vec<Export>, mut metrics: MetricsExport, closing: &watch::Receiver<Option<Closing>>) -> bool {
    let mut sending = JoinSet::new();
    for mut export in exports {
        let closing = closing.clone();
        sending.spawn(async move {
            let account = Arc::clone(&export.sender.account);
            tokio::select! {
                () = in_time(export.send_all(closing.clone()), closing) => {}
                never = account.log_losses() => match never {},
            }
            account.log_new_losses();
        });
    }
    let of_metrics = closing.clone();
    sending.spawn(async move { in_time(metrics.run(of_metrics.clone()), of_metrics).await });
    let mut has_worked = true;
    while let Some(sent) = sending.join_next().await {
        has_worked &= sent.is_ok();
    }
    has_worked
}

async fn in_time(sent: impl Future<Output = ()>, closing: watch::Receiver<Option<Closing>>) {
    tokio::select! {
        () = sent => {}
        () = passed(closing) => {}
    }
}

impl Export {
    async fn send_all(&mut self, mut closing: watch::Receiver<Option<Closing>>) {
        let mut backoff = Backoff::default();
        // A batch that is sent again has waited for more records already.
        let mut lingers = true;
        while let Some(batch) = self.queue.batch(&self.envelope, lingers).await {
            let number = u64::try_from(batch.records).unwrap_or(u64::MAX);
            match self.sender.send(batch.body, number).await {
                Fate::Settled(refusal) => {
                    if let Some(Refusal { records, why }) = refusal {
                        self.sender.account.note_refusal(records, &why);
                    }
                    self.queue.remove(batch.records);
                    backoff.reset();
                    lingers = true;
                }
                Fate::Later(asked) => {
                    lingers = false;
                    pause(backoff.next(asked, chance()), &mut closing).await;
                }
            }
        }
    }
}
