//! The receiver of events that exports them.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use observer_core::observer::{Event, Missed, Totals};
use observer_core::time::Timestamp;
use prost::Message;

use super::account::{Account, Record};
use super::client_spans::ClientSpans;
use super::destination::Destination;
use super::export_request::Envelope;
use super::exporter::{Export, Exporter};
use super::log_record::log_record;
use super::metrics_export::MetricsExport;
use super::queue::Queue;
use super::sender::Sender;
use super::settings::Settings;
use crate::memory_budget::OtlpLimits;
use crate::metrics::MetricsReader;
use crate::pipeline::EventSink;

/// Limits of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Memory of the data that waits for the collector.
    pub memory: OtlpLimits,
    /// How long the rest of the records may take at the end of a run.
    pub flush: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { memory: OtlpLimits::default(), flush: Duration::from_secs(2) }
    }
}

/// Exports each event as a log record, metrics at an interval, and spans if they are wanted. It never waits, except at the end.
pub struct OtlpSink {
    logs: Outlet,
    spans: Option<(ClientSpans, Outlet)>,
    metrics: MetricsReader,
    of_metrics: Arc<Account>,
    exporter: Exporter,
}

/// The queue of one signal, and the account of its losses.
struct Outlet {
    queue: Arc<Queue>,
    account: Arc<Account>,
}

impl OtlpSink {
    /// Starts to export events, and the numbers that `reader` reads.
    pub fn start(settings: Settings, reader: MetricsReader, bounds: Bounds) -> io::Result<Self> {
        let Settings { logs, metrics, spans, interval, resource } = settings;
        let OtlpLimits { queue, points, remembered } = bounds.memory;
        if let Some(exposed) = [&logs, &metrics].into_iter().chain(&spans).find(|destination| destination.exposes_headers()) {
            let origin = exposed.endpoint.origin();
            tracing::warn!("the header fields of OTEL_EXPORTER_OTLP_HEADERS are sent to {origin} without encryption: use https");
        }
        reader.want_last();
        let envelope = Envelope::new(&resource);
        let of_metrics = Sender::new(Record::Point, metrics)?;
        let account = Arc::clone(&of_metrics.account);
        let of_metrics = MetricsExport::new(reader.clone(), of_metrics, envelope.clone(), interval, points);
        let (logs, of_logs) = Outlet::new(Record::Log, logs, envelope.clone(), queue)?;
        let (spans, of_spans) = spans.map(|spans| Outlet::new(Record::Span, spans, envelope, queue)).transpose()?.unzip();
        let exporter = Exporter::start([of_logs].into_iter().chain(of_spans).collect(), of_metrics, bounds.flush)?;
        let spans = spans.map(|outlet| (ClientSpans::remembering(remembered), outlet));
        Ok(Self { logs, spans, metrics: reader, of_metrics: account, exporter })
    }

    fn outlets(&self) -> impl Iterator<Item = &Outlet> {
        [&self.logs].into_iter().chain(self.spans.as_ref().map(|(_, outlet)| outlet))
    }

    fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.outlets().map(|outlet| &*outlet.account).chain([&*self.of_metrics])
    }
}

impl Outlet {
    fn new(record: Record, destination: Destination, envelope: Envelope, max_queued: usize) -> io::Result<(Self, Export)> {
        let queue = Arc::new(Queue::new(max_queued));
        let sender = Sender::new(record, destination)?;
        let account = Arc::clone(&sender.account);
        Ok((Self { queue: Arc::clone(&queue), account }, Export { queue, sender, envelope }))
    }

    /// Appends a record. Without room, it is not even made: a collector that is gone for long costs nothing.
    fn offer<M: Message>(&self, record: impl FnOnce() -> io::Result<M>) {
        if !self.queue.has_room() {
            return self.account.note_without_room();
        }
        match record() {
            Ok(record) if self.queue.offer(record.encode_to_vec()) => {}
            Ok(_record) => self.account.note_without_room(),
            Err(error) => self.account.note_unmade(&error),
        }
    }
}

impl EventSink for OtlpSink {
    fn name(&self) -> &'static str {
        "--otlp"
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let Some((spans, outlet)) = &mut self.spans
            && let Some(span) = spans.of(event)
        {
            outlet.offer(|| Ok(span));
        }
        self.logs.offer(|| log_record(event, SystemTime::now()));
        Ok(())
    }

    fn totals(&mut self, _at: Timestamp, _totals: &Totals, _missed: &Missed) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn take_undelivered(&mut self) -> u64 {
        self.accounts().map(Account::take).fold(0, u64::saturating_add)
    }

    fn give_up(&mut self) -> u64 {
        self.outlets().for_each(|outlet| outlet.account.note_left(outlet.queue.len()));
        self.take_undelivered()
    }

    fn finish(&mut self) -> Vec<String> {
        let last = self.metrics.last().map(Arc::new);
        // Each of these points is lost unless the exporter reports its fate.
        self.of_metrics.note_left(last.as_ref().map_or(0, |last| last.families().map(|(_, samples)| samples.count()).sum()));
        let failed = self.exporter.finish(last).map(str::to_owned);
        self.outlets().for_each(|outlet| outlet.account.note_left(outlet.queue.len()));
        self.accounts().filter_map(Account::trouble).chain(failed).collect()
    }
}
