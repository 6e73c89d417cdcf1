//! Invariants of a metrics page. The samples do not depend on the chunking, memory is bounded, and every consumer accepts any
//! sample.

use observer_core::k8s::Resource;
use observer_core::metrics::{MetricsReader, Sample, Unread};
use observer_core::routing::{Basis, FromMetrics, RevisionHistory, ServerProfile};
use observer_core::time::Timestamp;
use observer_core::verification::{Counters, Measured, MetricsPage, ObservedAnswer, Prediction, measure};

use super::allocation;
use super::repetition::times_beyond;

/// Maximum memory of a reader in bytes: a line of 64 KiB, in a vector that grows by doubling.
const MOST_HELD: u64 = 256 << 10;

/// Labels that consumers read.
const LABELS: [&str; 5] = ["resource", "group", "name", "git_version", "le"];

/// Reads the page in one piece, byte by byte and in pieces of 61, and passes the samples to their consumers.
pub fn check(input: &[u8]) {
    let whole = read(input, input.len());
    for chunk in [1, 61] {
        assert_eq!(whole, read(input, chunk), "chunking changed the samples");
    }
    let held = allocation::peak_during(|| {
        let mut reader = MetricsReader::default();
        for _ in 0..times_beyond(MOST_HELD, input) {
            reader.push(input, &mut |_| {});
        }
        reader.finish(&mut |_| {});
    });
    assert!(held <= MOST_HELD, "{held} bytes are held");

    let pods = Resource { group: String::new(), version: String::from("v1"), resource: String::from("pods") };
    let pages = [MetricsPage::of(std::slice::from_ref(&pods)), MetricsPage::of(std::slice::from_ref(&pods))];
    let (mut facts, [mut before, mut after]) = (FromMetrics::default(), pages);
    let (first, _) = input.split_at(input.len() / 2);
    each(first, input.len(), &mut |sample| before.note(sample));
    each(input, input.len(), &mut |sample| {
        facts.note(sample);
        after.note(sample);
    });
    let (before, after) = (before.counters(&pods), after.counters(&pods));
    assert!((before - after == after - before) == (before == after), "{before:?} {after:?}");
    check_measuring(after - before);
    let mut profile = ServerProfile::default();
    facts.clone().add_to(&mut profile);
    let once = profile.clone();
    facts.add_to(&mut profile);
    assert_eq!(once, profile, "the same page says something else the second time");
}

/// Any change of the counters gives a measurement; without a change, a list is `NotCounted`.
fn check_measuring(moved: Counters) {
    let version = "v1.34.4".parse().expect("it is a version");
    let profile = ServerProfile::of_version(version, Basis::VersionEndpoint);
    for request in ["/api/v1/pods", "/api/v1/namespaces/shop/pods/web-0", "/api/v1/pods?watch=true"] {
        let history = RevisionHistory::default();
        let prediction = Prediction::of(request, &profile, &history, Timestamp::default()).expect("the rules know these");
        let measured = measure(&prediction, &ObservedAnswer::of_status(200), moved);
        assert!(!(request == "/api/v1/pods" && moved.is_still()) || measured == Measured::NotCounted, "{moved:?} {measured:?}");
    }
}

/// The samples as text, and what was skipped.
fn read(input: &[u8], chunk: usize) -> (Vec<String>, Unread) {
    let mut samples = Vec::new();
    let unread = each(input, chunk, &mut |sample| {
        samples.push(format!("{sample:?} {:?}", LABELS.map(|label| sample.label(label))));
    });
    (samples, unread)
}

fn each(input: &[u8], chunk: usize, told: &mut dyn FnMut(&Sample<'_>)) -> Unread {
    let mut reader = MetricsReader::default();
    for piece in input.chunks(chunk.max(1)) {
        reader.push(piece, told);
    }
    reader.finish(told)
}
