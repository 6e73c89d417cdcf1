//! The receiver of events that exports them.

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use observer_core::observer::{Event, Missed, Totals};
use observer_core::time::Timestamp;
use prost::Message;

use super::account::Account;
use super::collector::Collector;
use super::export_request::Envelope;
use super::exporter::{Export, Exporter};
use super::log_record::log_record;
use super::queue::Queue;
use super::settings::Settings;
use crate::pipeline::EventSink;

/// Memory of the records that wait for the collector, in bytes.
pub const MAX_QUEUED: usize = 16 * 1024 * 1024;

/// Exports each event as a log record. It never waits, except at the end.
pub struct OtlpSink {
    queue: Arc<Queue>,
    account: Arc<Account>,
    exporter: Exporter,
}

impl OtlpSink {
    /// Starts to export. At most `max_queued` bytes of records wait; [`MAX_QUEUED`] is usual.
    pub fn start(settings: Settings, max_queued: usize) -> io::Result<Self> {
        let Settings { logs, resource } = settings;
        let queue = Arc::new(Queue::new(max_queued));
        let account = Arc::new(Account::new(logs.endpoint.clone()));
        let collector = Collector::new(logs).map_err(io::Error::other)?;
        let envelope = Envelope::new(&resource);
        let exporter = Exporter::start(Export { queue: Arc::clone(&queue), collector, envelope, account: Arc::clone(&account) })?;
        Ok(Self { queue, account, exporter })
    }
}

impl EventSink for OtlpSink {
    fn name(&self) -> &'static str {
        "--otlp"
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        // A collector that is gone for long costs no encoding.
        let has_room = self.queue.has_room() && self.queue.offer(log_record(event, SystemTime::now())?.encode_to_vec());
        if !has_room {
            self.account.note_without_room();
        }
        Ok(())
    }

    fn totals(&mut self, _at: Timestamp, _totals: &Totals, _missed: &Missed) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn take_undelivered(&mut self) -> u64 {
        self.account.take()
    }

    fn finish(&mut self) -> Vec<String> {
        let failed = (!self.exporter.finish()).then(|| "--otlp failed because of an internal error; please report it".to_owned());
        if failed.is_some() {
            self.account.note_left(self.queue.len());
        }
        self.account.trouble().into_iter().chain(failed).collect()
    }
}
