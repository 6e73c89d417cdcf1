//! The receiver of events that exports them.

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use observer_core::observer::{Event, Missed, Totals};
use observer_core::time::Timestamp;
use prost::Message;

use super::account::Account;
use super::client_spans::ClientSpans;
use super::collector::Collector;
use super::destination::Destination;
use super::export_request::Envelope;
use super::exporter::{Export, Exporter};
use super::log_record::log_record;
use super::queue::Queue;
use super::settings::Settings;
use crate::pipeline::EventSink;

/// Usual memory of the records of one signal that wait for the collector, in bytes.
pub const MAX_QUEUED: usize = 16 * 1024 * 1024;

/// Exports each event as a log record, and spans if they are wanted. It never waits, except at the end.
pub struct OtlpSink {
    logs: Outlet,
    spans: Option<(ClientSpans, Outlet)>,
    exporter: Exporter,
}

/// The queue of one signal, and the account of its losses.
struct Outlet {
    queue: Arc<Queue>,
    account: Arc<Account>,
}

impl OtlpSink {
    /// Starts to export. Of each signal, at most `max_queued` bytes of records wait; [`MAX_QUEUED`] is usual.
    pub fn start(settings: Settings, max_queued: usize) -> io::Result<Self> {
        let Settings { logs, spans, resource } = settings;
        let envelope = Envelope::new(&resource);
        let (logs, of_logs) = Outlet::new(logs, envelope.clone(), max_queued)?;
        let (spans, of_spans) = spans.map(|spans| Outlet::new(spans, envelope, max_queued)).transpose()?.unzip();
        let exporter = Exporter::start([of_logs].into_iter().chain(of_spans).collect())?;
        Ok(Self { logs, spans: spans.map(|outlet| (ClientSpans::default(), outlet)), exporter })
    }

    fn outlets(&self) -> impl Iterator<Item = &Outlet> {
        [&self.logs].into_iter().chain(self.spans.as_ref().map(|(_, outlet)| outlet))
    }
}

impl Outlet {
    fn new(destination: Destination, envelope: Envelope, max_queued: usize) -> io::Result<(Self, Export)> {
        let queue = Arc::new(Queue::new(max_queued));
        let account = Arc::new(Account::new(destination.endpoint.clone()));
        let collector = Collector::new(destination)?;
        let export = Export { queue: Arc::clone(&queue), collector, envelope, account: Arc::clone(&account) };
        Ok((Self { queue, account }, export))
    }

    /// Appends a record. Without room, it is not even made: a collector that is gone for long costs nothing.
    fn offer<M: Message>(&self, record: impl FnOnce() -> io::Result<M>) -> io::Result<()> {
        let has_room = self.queue.has_room() && self.queue.offer(record()?.encode_to_vec());
        if !has_room {
            self.account.note_without_room();
        }
        Ok(())
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
            outlet.offer(|| Ok(span))?;
        }
        self.logs.offer(|| log_record(event, SystemTime::now()))
    }

    fn totals(&mut self, _at: Timestamp, _totals: &Totals, _missed: &Missed) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn take_undelivered(&mut self) -> u64 {
        self.outlets().map(|outlet| outlet.account.take()).fold(0, u64::saturating_add)
    }

    fn give_up(&mut self) -> u64 {
        self.outlets().for_each(|outlet| outlet.account.note_left(outlet.queue.len()));
        self.take_undelivered()
    }

    fn finish(&mut self) -> Vec<String> {
        let failed = (!self.exporter.finish()).then(|| "--otlp failed because of an internal error; please report it".to_owned());
        self.outlets().for_each(|outlet| outlet.account.note_left(outlet.queue.len()));
        self.outlets().filter_map(|outlet| outlet.account.trouble()).chain(failed).collect()
    }
}
