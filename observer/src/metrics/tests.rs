//! Tests of the text: names, escapes, bounds.

use expect_test::{Expect, expect};

use observer_core::series::{FAMILIES, Family, Kind};

use super::exposition::{Bounds, Exposition, FamilyWriter, Format, Head, Number};
use super::webhook_families;

#[test]
fn counters_have_another_name_in_open_metrics() {
    let write = |out: &mut Exposition| {
        out.family(COUNTER, |family| {
            family.sample(&[("client", "kubelet".into()), ("code", "".into())], Number::Integer(u64::MAX));
            family.sample(&[("client", "other".into()), ("code", "200".into())], Number::Integer(0));
        });
        out.family(GAUGE, |family| family.sample(&[], Number::Micros(1_500_000)));
    };
    check(
        Format::OpenMetrics,
        write,
        &expect![[r#"
            # HELP watchtap_received_bytes Bytes
            # TYPE watchtap_received_bytes counter
            # UNIT watchtap_received_bytes bytes
            watchtap_received_bytes_total{client="kubelet",code=""} 18446744073709551615
            watchtap_received_bytes_total{client="other",code="200"} 0
            # HELP watchtap_open Open
            # TYPE watchtap_open gauge
            watchtap_open 1.5
            # EOF
        "#]],
    );
    check(
        Format::Text,
        write,
        &expect![[r#"
            # HELP watchtap_received_bytes_total Bytes
            # TYPE watchtap_received_bytes_total counter
            watchtap_received_bytes_total{client="kubelet",code=""} 18446744073709551615
            watchtap_received_bytes_total{client="other",code="200"} 0
            # HELP watchtap_open Open
            # TYPE watchtap_open gauge
            watchtap_open 1.5
        "#]],
    );
}

#[test]
fn buckets_are_cumulative() {
    let number = Number::Histogram { buckets: &[2, 2, 2, 0], sum_us: 15_010_011 };
    check(
        Format::OpenMetrics,
        |out| out.family(HISTOGRAM, |family| family.sample(&[("verb", "LIST".into())], number)),
        &expect![[r#"
            # HELP watchtap_wait_seconds Waits
            # TYPE watchtap_wait_seconds histogram
            # UNIT watchtap_wait_seconds seconds
            watchtap_wait_seconds_bucket{verb="LIST",le="0.005"} 2
            watchtap_wait_seconds_bucket{verb="LIST",le="1.0"} 4
            watchtap_wait_seconds_bucket{verb="LIST",le="+Inf"} 6
            watchtap_wait_seconds_sum{verb="LIST"} 15.010011
            watchtap_wait_seconds_count{verb="LIST"} 6
            # EOF
        "#]],
    );
}

#[test]
fn label_values_of_clients_cannot_end_their_quotes() {
    check(
        Format::Text,
        |out| out.family(GAUGE, |family| family.sample(&[("client", "a\"} 1\nb\\\t\u{1b}é".into())], Number::Integer(1))),
        &expect![[r#"
            # HELP watchtap_open Open
            # TYPE watchtap_open gauge
            watchtap_open{client="a\"} 1\nb\\	é"} 1
        "#]],
    );
}

#[test]
fn family_that_exceeds_a_bound_is_left_out_completely() {
    for bounds in [Bounds { series: 3, bytes: 1_000 }, Bounds { series: 100, bytes: 400 }] {
        let mut out = Exposition::new(Format::Text, bounds);
        let label_sets = |count: usize| {
            move |family: &mut FamilyWriter<'_>| {
                for number in 0..count {
                    family.sample(&[("client", number.to_string().into())], Number::Integer(1));
                }
            }
        };
        out.family(GAUGE, label_sets(2));
        out.family(COUNTER, label_sets(50));
        out.family(HISTOGRAM, label_sets(0));
        out.family(COUNTER, label_sets(1));
        out.families_left_out(LEFT_OUT);
        let text = out.finish();
        assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 4, "{text}");
        assert!(text.ends_with("\nwatchtap_left_out 1\n"), "a family without label sets had room: {text}");
    }
}

/// `OpenMetrics` forbids that the samples of two families have one name.
#[test]
fn no_family_has_the_name_of_a_sample_of_another_and_the_last_counts_those_left_out() {
    let names = Family::NAMES.iter().copied().chain(webhook_families::ALL.iter().map(|(head, _)| head.name));
    let bases: Vec<&str> = names.map(|name| name.strip_suffix("_total").unwrap_or(name)).collect();
    assert_eq!(FAMILIES.last().map(|row| row.family), Some(Family::FamiliesLeftOut));
    for (place, base) in bases.iter().enumerate() {
        let samples = ["", "_total", "_created", "_bucket", "_sum", "_count", "_info"].map(|suffix| format!("{base}{suffix}"));
        let others = bases.iter().enumerate().filter(|(other, _)| *other != place);
        for (_, other) in others {
            assert!(!samples.iter().any(|sample| sample == other), "{base} and {other}");
        }
    }
}

const COUNTER: Head = Head { name: "watchtap_received_bytes_total", kind: Kind::Counter, help: "Bytes" };
const LEFT_OUT: Head = Head { name: "watchtap_left_out", kind: Kind::Gauge, help: "Left out" };
const GAUGE: Head = Head { name: "watchtap_open", kind: Kind::Gauge, help: "Open" };
const HISTOGRAM: Head =
    Head { name: "watchtap_wait_seconds", kind: Kind::Histogram { bounds: &[5_000, 1_000_000] }, help: "Waits" };

#[track_caller]
fn check(format: Format, write: impl FnOnce(&mut Exposition), expected: &Expect) {
    let mut out = Exposition::new(format, Bounds::OF_A_PAGE);
    write(&mut out);
    expected.assert_eq(&out.finish());
}
