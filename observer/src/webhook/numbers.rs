//! The counts behind the webhook's metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use observer_core::series::{FAMILIES, Family, ProcessNumbers};

use super::review::Outcome;
use crate::metrics::webhook_families::{ADMISSIONS, CLOSED, DURATION, DURATIONS, EXPIRY};
use crate::metrics::{Exposition, FamilyWriter, Head, Number, process_numbers, process_started_us};

/// The reason why the webhook closed a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closed {
    NoRoom,
    Handshake,
}

/// The counts of a run.
#[derive(Debug)]
pub(super) struct Numbers {
    outcomes: [AtomicU64; 4],
    durations: Vec<AtomicU64>,
    duration_sum_us: AtomicU64,
    closed: [AtomicU64; 2],
    process_started_us: Option<u64>,
}

impl Numbers {
    pub(super) fn new() -> Self {
        Self {
            outcomes: Default::default(),
            durations: std::iter::repeat_with(AtomicU64::default).take(DURATIONS.len() + 1).collect(),
            duration_sum_us: AtomicU64::default(),
            closed: Default::default(),
            process_started_us: process_started_us(),
        }
    }

    pub(super) fn note_answer(&self, outcome: Outcome) {
        count(&self.outcomes, outcome as usize);
    }

    /// Notes the time from the complete body of a review to its answer.
    pub(super) fn note_duration(&self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = DURATIONS.partition_point(|bound| *bound < us);
        count(&self.durations, bucket);
        self.duration_sum_us.fetch_add(us, Ordering::Relaxed);
    }

    pub(super) fn note_closed(&self, reason: Closed) {
        count(&self.closed, reason as usize);
    }

    /// Writes all families. `expires` is the end of the certificate.
    pub(super) fn write(&self, page: &mut Exposition, expires: Option<SystemTime>) {
        page.family(ADMISSIONS, |family| {
            for (word, number) in ["injected", "refused", "unchanged", "malformed"].into_iter().zip(values(&self.outcomes)) {
                family.sample(&[("outcome", word.into())], Number::Integer(number));
            }
        });
        page.family(DURATION, |family| {
            let buckets: Vec<u64> = values(&self.durations).collect();
            let sum_us = self.duration_sum_us.load(Ordering::Relaxed);
            family.sample(&[], Number::Histogram { buckets: &buckets, sum_us });
        });
        page.family(CLOSED, |family| {
            for (word, number) in ["no_room", "handshake"].into_iter().zip(values(&self.closed)) {
                family.sample(&[("reason", word.into())], Number::Integer(number));
            }
        });
        if let Some(expires) = expires.and_then(|expires| expires.duration_since(UNIX_EPOCH).ok()) {
            page.family(EXPIRY, |family| family.sample(&[], Number::Integer(expires.as_secs())));
        }
        shared(page, Family::BuildInfo, |family| {
            let version = ("version", env!("CARGO_PKG_VERSION").into());
            let revision = ("revision", option_env!("WATCHTAP_REVISION").unwrap_or_default().into());
            family.sample(&[version, revision, ("tap", "webhook".into())], Number::Integer(1));
        });
        if let Some(process) = self.process_started_us.and_then(process_numbers) {
            write_process(page, process);
        }
    }
}

fn write_process(page: &mut Exposition, process: ProcessNumbers) {
    for (family, number) in [
        (Family::ProcessCpu, Number::Micros(process.cpu_us)),
        (Family::ProcessStart, Number::Micros(process.started_us)),
        (Family::ProcessResidentMemory, Number::Integer(process.resident_bytes)),
        (Family::ProcessVirtualMemory, Number::Integer(process.virtual_bytes)),
        (Family::ProcessOpenFiles, Number::Integer(process.open_files)),
        (Family::ProcessMostFiles, Number::Integer(process.most_files)),
    ] {
        shared(page, family, |writer| writer.sample(&[], number));
    }
}

/// Writes a family that sidecars have, too.
fn shared(page: &mut Exposition, family: Family, write: impl FnOnce(&mut FamilyWriter<'_>)) {
    if let Some(row) = FAMILIES.iter().find(|row| row.family == family) {
        page.family(Head { name: row.name, kind: row.kind, help: row.help }, write);
    }
}

fn count(counts: &[AtomicU64], place: usize) {
    if let Some(count) = counts.get(place) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

fn values(counts: &[AtomicU64]) -> impl Iterator<Item = u64> {
    counts.iter().map(|count| count.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_at_a_bound_counts_below_it_and_the_longest_ones_beyond_all() {
        let numbers = Numbers::new();
        for us in [0, 1_000, 1_001, 30_000_000, 30_000_001] {
            numbers.note_duration(Duration::from_micros(us));
        }
        numbers.note_answer(Outcome::Refused);
        let counts: Vec<u64> = values(&numbers.durations).collect();
        let last = DURATIONS.len();
        assert_eq!((counts[0], counts[1], counts[last - 1], counts[last]), (2, 1, 1, 1));
        assert_eq!(values(&numbers.outcomes).collect::<Vec<_>>(), [0, 1, 0, 0]);
    }
}
