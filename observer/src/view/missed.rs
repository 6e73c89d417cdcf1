//! Traffic that was not seen, or seen and not understood, in words.

use observer_core::observation::ProbeMissed;
use observer_core::observer::{Missed, Unrecorded};
use observer_core::time::Timestamp;

use super::quantity::{bytes, counted, counted_as};

/// A span that a capture does not cover.
pub(super) fn unrecorded(span: &Unrecorded) -> String {
    let time = |time: Option<Timestamp>, otherwise: &str| time.map_or_else(|| otherwise.to_owned(), |time| time.to_string());
    let (from, until) = (time(span.from, "the beginning"), time(span.until, "an unknown end"));
    let observations = span.observations.map_or_else(|| "unknown amount".to_owned(), |number| counted(number, "observation"));
    format!("missing from the capture: {from} to {until} ({observations})")
}

pub(super) fn not_seen(missed: &Missed) -> Vec<String> {
    let mut words = Vec::new();
    if missed.bytes > 0 {
        words.push(format!("{} in {}", bytes(missed.bytes), counted(missed.gaps, "gap")));
    }
    if missed.stopped_directions > 0 {
        words.push(format!("the rest of {}", counted(missed.stopped_directions, "connection half")).replace("halfs", "halves"));
    }
    if missed.connections > 0 {
        words.push(counted(missed.connections, "complete connection"));
    }
    if missed.notices > 0 {
        words.push(format!("{} about listeners and failed connections", counted(missed.notices, "notice")));
    }
    if missed.connections_forgotten > 0 {
        words.push(format!("the destinations of {}", counted(missed.connections_forgotten, "old connection")));
    }
    if missed.decoder_failures > 0 {
        words.push(format!("{} whose decoder failed", counted(missed.decoder_failures, "connection")));
    }
    if missed.exchanges_dropped > 0 {
        words.push(format!("{} beyond the limit of open requests", counted(missed.exchanges_dropped, "request")));
    }
    if missed.reflectors.forgotten > 0 {
        words.push(format!("{} forgotten to make room", counted(missed.reflectors.forgotten, "reflector")));
    }
    if missed.reflectors.requests > 0 {
        words.push(format!("the reflectors of {}", counted_as(missed.reflectors.requests, "list or watch", "lists and watches")));
    }
    if missed.log_events > 0 {
        words.push(counted_as(missed.log_events, "event of the logs", "events of the logs"));
    }
    if missed.unrecorded > 0 {
        words.push(format!("{} missing from the capture", counted(missed.unrecorded, "span")));
    }
    words.extend(not_probed(missed));
    if missed.rows_dropped > 0 {
        words.push(format!("{} of shapes that are not in the tables", counted(missed.rows_dropped, "request")));
    }
    words
}

pub(super) fn not_understood(missed: &Missed) -> Vec<String> {
    let mut words: Vec<String> =
        missed.bodies.iter().map(|(reason, number)| format!("{} ({reason})", counted(*number, "answer"))).collect();
    if missed.log_lines > 0 {
        words.push(counted_as(missed.log_lines, "line of the logs", "lines of the logs"));
    }
    if missed.malformed > 0 {
        words.push(format!("malformed HTTP in {}", counted(missed.malformed, "place")));
    }
    if missed.unknown_observations > 0 {
        words.push(format!("{} from a newer watchtap", counted(missed.unknown_observations, "observation")));
    }
    if missed.unknown_requests > 0 {
        words.push(format!("{} with an unknown path", counted(missed.unknown_requests, "request")));
    }
    words
}

/// Losses on the way to a collector: log records, spans and final data points.
pub(super) fn not_exported(missed: &Missed) -> Option<String> {
    let number = missed.not_exported;
    let words = ("record, span or data point", "records, spans and data points");
    (number > 0).then(|| format!("not exported by OTLP: {}", counted_as(number, words.0, words.1)))
}

pub(super) fn connections(missed: &Missed) -> String {
    let mut words = Vec::new();
    if missed.reset_instead_of_refused > 0 {
        words.push(format!(
            "{} reset, which watchtap had accepted before it knew that the API server was refusing connections",
            counted(missed.reset_instead_of_refused, "client connection")
        ));
    }
    if missed.connect_failures > 0 {
        words.push(format!("{} failed: {}", counted(missed.connect_failures, "connection"), missed.last_connect_failure));
    }
    words.join(" · ")
}

/// The losses of a probe in the kernel.
fn not_probed(missed: &Missed) -> Vec<String> {
    let ProbeMissed {
        records,
        bytes: lost,
        unreadable,
        beyond_largest_call,
        calls,
        calls_without_room,
        connections,
        sockets,
        lifetimes,
        unused_fields,
        contradicted,
        unplaced,
    } = missed.probe;
    let mut words = Vec::new();
    if records > 0 {
        words.push(format!("{} ({}) lost because the probe's ring buffer was full", counted(records, "record"), bytes(lost)));
    }
    if unreadable > 0 {
        words.push(format!("{} whose memory could not be read", counted(unreadable, "record")));
    }
    if beyond_largest_call > 0 {
        words.push(format!("{} of very large writes", bytes(beyond_largest_call)));
    }
    if calls > 0 {
        words.push(format!("{} that began before the probe was attached", counted(calls, "TLS call")));
    }
    if calls_without_room > 0 {
        words.push(format!("{} for which the probe had no room", counted(calls_without_room, "TLS call")));
    }
    if connections > 0 {
        words.push(format!("{} beyond the limit of the probe", counted(connections, "TLS connection")));
    }
    if sockets > 0 {
        words.push(format!("{} whose socket was not found", counted(sockets, "TLS connection")));
    }
    if unplaced > 0 {
        words.push(format!("{} of TLS connections whose socket was not found", bytes(unplaced)));
    }
    if contradicted > 0 {
        words.push(format!("{} whose socket apparently changed", counted(contradicted, "TLS call")));
    }
    if unused_fields > 0 {
        words.push(format!("{} that could not be assigned to a header block", counted(unused_fields, "header field")));
    }
    if lifetimes > 0 {
        words.push(
            format!("{} of processes and sockets", counted(lifetimes, "beginning or end"))
                .replace("beginning or ends", "beginnings or ends"),
        );
    }
    if missed.not_probed > 0 {
        words.push(format!("{} that cannot be probed, the last {}", counted(missed.not_probed, "program"), missed.last_not_probed));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_probe_loss_has_its_text() {
        let none = ProbeMissed::default();
        for (probe, expected) in [
            (ProbeMissed { records: 2, bytes: 3_000, ..none }, "2 records (3.0 kB) lost because the probe's ring buffer was full"),
            (ProbeMissed { unreadable: 1, ..none }, "1 record whose memory could not be read"),
            (ProbeMissed { beyond_largest_call: 5_000, ..none }, "5.0 kB of very large writes"),
            (ProbeMissed { calls: 2, ..none }, "2 TLS calls that began before the probe was attached"),
            (ProbeMissed { calls_without_room: 1, ..none }, "1 TLS call for which the probe had no room"),
            (ProbeMissed { connections: 1, ..none }, "1 TLS connection beyond the limit of the probe"),
            (ProbeMissed { sockets: 2, ..none }, "2 TLS connections whose socket was not found"),
            (ProbeMissed { lifetimes: 2, ..none }, "2 beginnings or ends of processes and sockets"),
            (ProbeMissed { unused_fields: 1, ..none }, "1 header field that could not be assigned to a header block"),
            (ProbeMissed { contradicted: 3, ..none }, "3 TLS calls whose socket apparently changed"),
            (ProbeMissed { unplaced: 700, ..none }, "700 B of TLS connections whose socket was not found"),
        ] {
            assert_eq!(not_probed(&Missed { probe, ..Missed::default() }), [expected]);
        }
    }
}
