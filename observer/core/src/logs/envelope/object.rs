//! JSON objects that hold lines: those of Docker, of the journal and of clouds.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::kind::Envelope;
use crate::logs::klog::zoned;
use crate::logs::text::Text;
use crate::time::Timestamp;

/// The fields that may hold lines, and the times of these.
#[derive(Deserialize)]
pub(super) struct Object<'l> {
    #[serde(borrow, default)]
    log: Text<'l>,
    #[serde(borrow, default)]
    stream: Text<'l>,
    #[serde(borrow, default)]
    time: Text<'l>,
    #[serde(default)]
    timestamp: Milliseconds,
    #[serde(borrow, default)]
    message: Text<'l>,
    #[serde(borrow, default, rename = "@message")]
    at_message: Text<'l>,
    #[serde(default, rename = "ingestionTime")]
    ingestion_time: Option<IgnoredAny>,
    #[serde(borrow, default, rename = "MESSAGE")]
    journal_message: Text<'l>,
    #[serde(borrow, default)]
    log_s: Text<'l>,
    #[serde(borrow, default)]
    properties: Option<Properties<'l>>,
    #[serde(borrow, default, rename = "logEvents")]
    log_events: Vec<Entry<'l>>,
    #[serde(borrow, default)]
    events: Vec<Entry<'l>>,
    #[serde(borrow, default)]
    records: Vec<Record<'l>>,
}

/// A time as `CloudWatch` writes it, in milliseconds since the Unix epoch. `None` for a value of another type.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Milliseconds {
    Number(u64),
    Other(IgnoredAny),
    #[default]
    None,
}

impl Milliseconds {
    fn at(&self) -> Option<Timestamp> {
        match self {
            // Smaller numbers, of before 1973, are seconds.
            Self::Number(milliseconds @ 100_000_000_000..) => milliseconds.checked_mul(1_000_000).map(Timestamp::from_nanos),
            Self::Number(_) | Self::Other(_) | Self::None => None,
        }
    }
}

#[derive(Deserialize)]
struct Properties<'l> {
    #[serde(borrow, default)]
    log: Text<'l>,
}

#[derive(Deserialize)]
struct Entry<'l> {
    #[serde(default)]
    timestamp: Milliseconds,
    #[serde(borrow, default)]
    message: Text<'l>,
}

#[derive(Deserialize)]
struct Record<'l> {
    #[serde(borrow, default)]
    time: Text<'l>,
    #[serde(borrow, default)]
    properties: Option<Properties<'l>>,
}

impl Object<'_> {
    /// The stream and the line of an object of Docker.
    pub(super) fn of_docker(&self) -> Option<(usize, &str)> {
        stream_of(self.stream.get()?.as_bytes()).zip(self.log.get())
    }

    /// When it was written.
    pub(super) fn at(&self) -> Option<Timestamp> {
        let of_cloud_watch = || self.ingestion_time.as_ref().and_then(|_| self.timestamp.at());
        self.time.get().and_then(zoned).or_else(of_cloud_watch)
    }

    /// The texts of its own fields that may be a line, with the envelope that each shows.
    pub(super) fn own_lines(&self) -> impl Iterator<Item = (Envelope, &str)> {
        let own = [
            (Envelope::Docker, &self.log),
            (Envelope::Azure, &self.log_s),
            (Envelope::Journal, &self.journal_message),
            (if self.ingestion_time.is_some() { Envelope::CloudWatch } else { Envelope::Message }, &self.message),
            (Envelope::Message, &self.at_message),
        ];
        let properties = self.properties.iter().map(|properties| (Envelope::Azure, &properties.log));
        own.into_iter().chain(properties).filter_map(|(envelope, text)| Some((envelope, text.get()?)))
    }

    /// The lines in its arrays.
    pub(super) fn lines(&self) -> impl Iterator<Item = (Envelope, Option<Timestamp>, &str)> {
        let records = self.records.iter().filter_map(|record| {
            let text = record.properties.as_ref()?.log.get()?;
            Some((Envelope::Azure, record.time.get().and_then(zoned), text))
        });
        let entries = self.log_events.iter().chain(&self.events);
        records.chain(entries.filter_map(|entry| Some((Envelope::CloudWatch, entry.timestamp.at(), entry.message.get()?))))
    }
}

/// 0 for stdout, 1 for stderr.
pub(super) fn stream_of(name: &[u8]) -> Option<usize> {
    [&b"stdout"[..], b"stderr"].iter().position(|known| *known == name)
}
