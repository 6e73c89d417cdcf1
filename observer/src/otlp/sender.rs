//! One attempt to send a request, and the fate of its records.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::account::{Account, Record};
use super::answer::Answer;
use super::collector::{Collector, Unreachable};
use super::destination::Destination;

/// Longest text of a collector that is reported, in characters.
const MAX_MESSAGE: usize = 200;

/// Sends the requests of one signal.
pub(super) struct Sender {
    collector: Collector,
    pub(super) account: Arc<Account>,
}

/// The fate of the records of a request.
pub(super) enum Fate {
    /// They must not be sent again.
    Settled(Option<Refusal>),
    /// They may be sent again, after the time that the collector asked for.
    Later(Option<Duration>),
}

/// Records that the collector did not take.
pub(super) struct Refusal {
    pub(super) records: u64,
    pub(super) why: String,
}

impl Sender {
    /// Prepares to send records of this kind.
    pub(super) fn new(record: Record, destination: Destination) -> io::Result<Self> {
        let account = Arc::new(Account::new(destination.endpoint.origin(), record));
        Ok(Self { collector: Collector::new(destination)?, account })
    }

    /// Sends a request with so many records. Notes whether the collector can be reached.
    pub(super) async fn send(&mut self, body: Vec<u8>, records: u64) -> Fate {
        match self.collector.post(body).await {
            Ok(Answer::Taken { rejected, message }) => {
                self.account.note_success();
                if rejected > 0 {
                    return Fate::Settled(Some(Refusal { records: rejected.min(records), why: self.quoted(&message) }));
                }
                if !message.is_empty() {
                    self.account.note_warning(&self.quoted(&message));
                }
                Fate::Settled(None)
            }
            Ok(Answer::Refused { status }) => {
                self.account.note_success();
                Fate::Settled(Some(Refusal { records, why: refusal(status) }))
            }
            Ok(Answer::Later { status, after }) => {
                self.account.note_failure(&status.to_string());
                Fate::Later(after)
            }
            Err(Unreachable(why)) => {
                self.account.note_failure(&self.collector.redact(&why));
                Fate::Later(None)
            }
        }
    }

    /// A message of the collector, without credentials.
    fn quoted(&self, message: &str) -> String {
        let message = self.collector.redact(message);
        if message.is_empty() { "no reason given".to_owned() } else { message.chars().take(MAX_MESSAGE).collect() }
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
