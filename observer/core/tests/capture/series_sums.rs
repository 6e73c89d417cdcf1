//! Sums over the labels of series, compared with totals, tables and events.

use std::collections::BTreeMap;

use observer_core::exchange::WatchStream;
use observer_core::k8s::Verb;
use observer_core::observation::{ExchangeId, Plaintext};
use observer_core::observer::{Event, Finding, Limits, Observer, RequestRecord, Snapshot, Totals};
use observer_core::reflector::{ListEvent, ReflectorRow, RelistCause};
use observer_core::series::{Family, Sample, Samples};
use observer_core::storm::StormRecord;

/// The events of a run that count in series.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    ended: Vec<RequestRecord>,
    initial: u64,
    relists: Vec<ListEvent>,
    stalls: u64,
    goaways: u64,
    /// Bytes of each open response that count.
    so_far: BTreeMap<ExchangeId, u64>,
}

impl Heard {
    #[expect(clippy::wildcard_enum_match_arm, reason = "other events do not count by themselves")]
    pub(crate) fn note(&mut self, event: Event) {
        match event {
            Event::Request { record } | Event::WatchEnded { record, .. } => {
                self.so_far.remove(&record.id);
                self.ended.push(*record);
            }
            Event::InitialList { .. } => self.initial += 1,
            Event::Relist { list } if list.cause.is_some_and(RelistCause::begins_from_nothing) => self.initial += 1,
            Event::Relist { list } => self.relists.push(*list),
            Event::Stalled { .. } => self.stalls += 1,
            Event::GoAway { .. } => self.goaways += 1,
            _other => {}
        }
    }

    /// Compares all sums at one moment.
    #[track_caller]
    pub(crate) fn assert_sums(&mut self, observer: &Observer, samples: &Samples, limits: Limits) {
        let (totals, snapshot) = (observer.totals(), observer.snapshot());
        let is_folded = limits.series != Limits::default().series;
        self.assert_requests(&totals, &snapshot, samples, is_folded);
        self.assert_reflectors(&totals, &snapshot, samples);
        assert_storms(&totals, &snapshot, samples);
        assert_state(&snapshot, samples, is_folded);
        self.assert_connections(&totals, &snapshot, samples, is_folded);
    }

    fn assert_requests(&mut self, totals: &Totals, snapshot: &Snapshot, samples: &Samples, is_folded: bool) {
        let open: Vec<&RequestRecord> = snapshot.requests.iter().filter(|record| record.end.is_none()).collect();
        self.so_far
            .extend(open.iter().filter(|record| counts_as_it_comes(record)).map(|record| (record.id, record.bytes.or_zero())));
        let of_open = |number: fn(&RequestRecord) -> u64| sum_of(open.iter().map(|record| number(record)));
        let of_ended = |number: fn(&RequestRecord) -> u64| sum_of(self.ended.iter().map(number));
        let Totals { requests, open: under_way, items, watch_events, response_bytes, watches_open, .. } = *totals;

        for (family, expected) in [
            (Family::Requests, requests - under_way),
            (Family::RequestsInFlight, under_way - of_open(|record| u64::from(record.watch.is_some()))),
            (Family::RequestDuration, of_ended(|record| u64::from(record.watch.is_none()))),
            (Family::FirstByte, of_ended(has_response).saturating_add(of_open(has_response))),
            (Family::RequestBytes, of_ended(|record| record.request_bytes).saturating_add(of_open(|record| record.request_bytes))),
            (Family::ResponseBytes, response_bytes.saturating_add(sum_of(self.so_far.values().copied())).or_zero()),
            (Family::ListItems, items.or_zero()),
            (Family::Verdicts, of_ended(|record| u64::from(record.verdict.is_some()))),
            (Family::WatchesOpen, watches_open),
            (Family::Watches, of_ended(|record| u64::from(record.watch.is_some()))),
            (Family::WatchDuration, of_ended(was_open)),
        ] {
            assert_eq!(sum(samples, family), expected, "{family:?}");
        }
        if !is_folded {
            let is_about_objects = |sample: &Sample<'_>| !matches!(sample.label("type"), Some("bookmark" | "error"));
            let events = watch_events.saturating_add(of_open(events));
            assert_eq!(sum_if(samples, Family::WatchEvents, is_about_objects), events);
            assert_eq!(sum_if(samples, Family::Requests, |sample| sample.label("verb") == Some("LIST")), totals.lists);
            let of = |certainty| sum_if(samples, Family::Verdicts, |sample| sample.label("certainty") == Some(certainty));
            assert_eq!((of("confirmed"), of("contradicted")), (totals.confirmed, totals.contradicted));
        }
    }

    fn assert_reflectors(&self, totals: &Totals, snapshot: &Snapshot, samples: &Samples) {
        let of_relists = |number: fn(&ListEvent) -> u64| sum_of(self.relists.iter().map(number));
        for (family, expected) in [
            (Family::InitialLists, self.initial),
            (Family::Relists, totals.relists),
            (Family::RelistItems, of_relists(|list| list.items.or_zero())),
            (Family::RelistRepeatedItems, of_relists(|list| list.repeats.repeated.or_zero())),
            (Family::RelistBytes, of_relists(|list| list.bytes.or_zero())),
            (Family::RelistDuration, self.relists.len() as u64),
            (Family::Resumes, totals.resumes),
            (Family::Stalls, self.stalls),
            (Family::WritePropagation, sum_of(snapshot.propagation.iter().map(|row| row.writes))),
        ] {
            assert_eq!(sum(samples, family), expected, "{family:?}");
        }
        if snapshot.missed.reflectors.forgotten == 0 {
            let of_rows = |number: fn(&ReflectorRow) -> u64| sum_of(snapshot.reflectors.iter().map(number));
            for (family, expected) in [
                (Family::Reflectors, snapshot.reflectors.len() as u64),
                (Family::StreamingListFallbacks, of_rows(|row| row.fallbacks)),
                (Family::RevisionsWentBack, of_rows(|row| row.went_back)),
                (Family::StallSeconds, of_rows(|row| row.stalled_us)),
            ] {
                assert_eq!(sum(samples, family), expected, "{family:?}");
            }
        }
    }

    fn assert_connections(&self, totals: &Totals, snapshot: &Snapshot, samples: &Samples, is_folded: bool) {
        let both = |plaintext: &Plaintext| plaintext.request.saturating_add(plaintext.response);
        let missed = &snapshot.missed;
        for (family, expected) in [
            (Family::Connections, totals.connections),
            (Family::GoAways, self.goaways),
            (Family::ForwardedBytes, both(&totals.forwarded)),
            (Family::ObservedBytes, both(&totals.observed)),
            (Family::MissedBytes, missed.bytes),
            (Family::ConnectFailures, missed.connect_failures),
            (Family::ResetsInsteadOfRefused, missed.reset_instead_of_refused),
            (Family::UnreadBodies, sum_of(missed.bodies.values().copied())),
            (Family::ProbeLostRecords, missed.probe.records),
            (Family::ProbeLostBytes, missed.probe.unplaced),
            (Family::ProbeLostConnections, missed.probe.sockets),
        ] {
            assert_eq!(sum(samples, family), expected, "{family:?}");
        }
        if !is_folded {
            assert_eq!(sum(samples, Family::UpstreamRefusing), snapshot.outages.lasting().count() as u64);
        }
        let lost = |what| sum_if(samples, Family::Missed, |sample| sample.label("what") == Some(what));
        assert_eq!(
            ["gap", "malformed", "dark", "connection", "notice", "exchange", "not_probed", "unknown_request"].map(lost),
            [
                missed.gaps,
                missed.malformed,
                missed.stopped_directions,
                missed.connections,
                missed.notices,
                missed.exchanges_dropped,
                missed.not_probed,
                missed.unknown_requests,
            ],
        );
    }
}

fn assert_storms(totals: &Totals, snapshot: &Snapshot, samples: &Samples) {
    let of_storms = |number: fn(&StormRecord) -> u64| sum_of(snapshot.storms.iter().map(number));
    let ongoing: Vec<&StormRecord> = snapshot.storms.iter().filter(|storm| storm.ended.is_none()).collect();
    for (family, expected) in [
        (Family::Storms, totals.storms),
        (Family::StormsActive, ongoing.len() as u64),
        (Family::StormMembers, ongoing.iter().map(|storm| storm.reflectors).sum()),
        (Family::StormRelists, of_storms(|storm| storm.relists)),
        (Family::StormItems, of_storms(|storm| storm.items.or_zero())),
        (Family::StormRepeatedItems, of_storms(|storm| storm.repeated.or_zero())),
        (Family::StormBytes, of_storms(|storm| storm.bytes.or_zero())),
    ] {
        assert_eq!(sum(samples, family), expected, "{family:?}");
    }
}

fn assert_state(snapshot: &Snapshot, samples: &Samples, is_folded: bool) {
    let is_over = |finding: &&Finding| finding.spell.is_some_and(|spell| !spell.lasts());
    let ongoing: Vec<&Finding> = snapshot.findings.iter().filter(|finding| !is_over(finding)).collect();
    for (family, expected) in [
        (Family::ReflectorObjects, sum_of(snapshot.inventory.iter().map(|inventory| inventory.objects))),
        (Family::ExposureReflectors, snapshot.exposure.reflectors + snapshot.exposure.perhaps),
        (Family::ExposureItems, snapshot.exposure.items.or_zero()),
        (Family::ExposureBytes, snapshot.exposure.bytes.or_zero()),
        (Family::Findings, ongoing.len() as u64),
        (Family::ReflectorFindings, ongoing.iter().map(|finding| finding.reflectors.len() as u64).sum()),
    ] {
        assert_eq!(sum(samples, family), expected, "{family:?}");
    }
    if !is_folded {
        let behind = samples.of(Family::ReflectorBehind).map(|sample| sample.count()).max();
        let is_served = |row: &&ReflectorRow| (row.is_watching() || row.server_revision.is_some()) && !row.client_left;
        assert_eq!(behind, snapshot.reflectors.iter().filter(is_served).filter_map(|row| row.behind).max());
        let bookmark = samples.of(Family::ReflectorLastBookmark).map(|sample| sample.count()).min();
        let bookmarks = snapshot.reflectors.iter().filter_map(|row| row.last_bookmark);
        assert_eq!(bookmark, bookmarks.map(|at| at.wall_nanos() / 1_000).min());
    }
}

fn has_response(record: &RequestRecord) -> u64 {
    u64::from(record.first_byte_us.is_some())
}

fn was_open(record: &RequestRecord) -> u64 {
    let is_refused =
        record.status.is_some_and(|status| status >= 300) && record.watch.as_ref().is_some_and(|watch| watch.error.is_none());
    u64::from(record.watch.is_some() && record.first_byte_us.is_some() && !is_refused)
}

fn events(record: &RequestRecord) -> u64 {
    record.watch.as_ref().map_or(0, WatchStream::events)
}

/// Whether the bytes of an open response count before its end.
fn counts_as_it_comes(record: &RequestRecord) -> bool {
    let may_last = record.verb == Some(Verb::Watch) || record.shape.resource.ends_with("/log");
    let is_refused = record.status.is_some_and(|status| status >= 300);
    record.verdict.is_none() || record.verb.is_none() || (may_last && !is_refused)
}

fn sum(samples: &Samples, family: Family) -> u64 {
    sum_if(samples, family, |_| true)
}

fn sum_if(samples: &Samples, family: Family, wanted: impl Fn(&Sample<'_>) -> bool) -> u64 {
    sum_of(samples.of(family).filter(|sample| wanted(sample)).map(|sample| sample.count()))
}

/// Counts stay at the largest number; so do their sums.
fn sum_of(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}
