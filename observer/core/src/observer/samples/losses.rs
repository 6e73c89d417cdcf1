//! Numbers of losses.

use crate::exchange::ValueNumber;
use crate::observation::ProbeMissed;
use crate::observer::missed::Missed;
use crate::observer::observe::Observer;
use crate::reflector::ReflectorsMissed;
use crate::series::{Family, Label, LabelSet, LostBytesWord, LostCallWord, LostConnectionWord, LostRecordWord, MissedWord, Series};

impl Observer {
    pub(super) fn add_losses(&self, series: &mut Series) {
        let missed = &self.missed;
        for (word, number) in missed_of(missed).into_iter().chain(missed_of_reflectors(self.following.missed())) {
            series.add(Family::Missed, &LabelSet::of(Label::What, word.number()), number);
        }
        for (family, number) in [
            (Family::MissedBytes, missed.bytes),
            (Family::ConnectFailures, missed.connect_failures),
            (Family::ResetsInsteadOfRefused, missed.reset_instead_of_refused),
        ] {
            series.add(family, &LabelSet::default(), number);
        }
        for (family, label, word, number) in of_probe(&missed.probe) {
            series.add(family, &LabelSet::of(label, word), number);
        }
    }
}

/// The losses of the run, by name. Bytes, failed connections and the losses of a probe have families of their own. Data that only a
/// snapshot omits is not lost.
fn missed_of(missed: &Missed) -> [(MissedWord, u64); 18] {
    let Missed {
        bytes: _,
        gaps,
        malformed,
        stopped_directions,
        connections,
        notices,
        connections_forgotten,
        decoder_failures,
        bodies: _,
        log_lines,
        log_events,
        unknown_requests,
        exchanges_dropped,
        records_dropped,
        open_not_shown: _,
        rows_dropped,
        upstreams_dropped,
        reset_instead_of_refused: _,
        connect_failures: _,
        last_connect_failure: _,
        probe: _,
        not_probed,
        last_not_probed: _,
        reflectors_not_shown: _,
        clients_not_shown: _,
        reflectors: _,
        unrecorded,
        unrecorded_spans: _,
        unknown_observations,
        capture_ended: _,
        not_exported,
    } = missed;
    [
        (MissedWord::Gap, *gaps),
        (MissedWord::Malformed, *malformed),
        (MissedWord::Dark, *stopped_directions),
        (MissedWord::Connection, *connections),
        (MissedWord::Notice, *notices),
        (MissedWord::ForgottenConnection, *connections_forgotten),
        (MissedWord::DecoderFailure, *decoder_failures),
        (MissedWord::LogLine, *log_lines),
        (MissedWord::LogEvent, *log_events),
        (MissedWord::UnknownRequest, *unknown_requests),
        (MissedWord::Exchange, *exchanges_dropped),
        (MissedWord::Record, *records_dropped),
        (MissedWord::Row, *rows_dropped),
        (MissedWord::Upstream, *upstreams_dropped),
        (MissedWord::NotProbed, *not_probed),
        (MissedWord::Unrecorded, *unrecorded),
        (MissedWord::UnknownObservation, *unknown_observations),
        (MissedWord::Otlp, *not_exported),
    ]
}

const fn missed_of_reflectors(missed: ReflectorsMissed) -> [(MissedWord, u64); 7] {
    let ReflectorsMissed { forgotten, requests, thinned, own_writes, rate_limits, gets, clients } = missed;
    [
        (MissedWord::Reflector, forgotten),
        (MissedWord::ReflectorRequest, requests),
        (MissedWord::ObjectVersions, thinned),
        (MissedWord::OwnWrite, own_writes),
        (MissedWord::RateLimit, rate_limits),
        (MissedWord::Get, gets),
        (MissedWord::Client, clients),
    ]
}

const fn of_probe(missed: &ProbeMissed) -> [(Family, Label, ValueNumber, u64); 12] {
    let ProbeMissed {
        records,
        bytes,
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
    } = *missed;
    let (record, of_record) = (Family::ProbeLostRecords, Label::LostRecord);
    let (byte, of_byte) = (Family::ProbeLostBytes, Label::LostBytes);
    let (call, of_call) = (Family::ProbeLostCalls, Label::LostCall);
    let (connection, of_connection) = (Family::ProbeLostConnections, Label::LostConnection);
    [
        (record, of_record, LostRecordWord::Ring.number(), records),
        (record, of_record, LostRecordWord::Unreadable.number(), unreadable),
        (record, of_record, LostRecordWord::Lifetime.number(), lifetimes),
        (record, of_record, LostRecordWord::UnmatchedField.number(), unused_fields),
        (byte, of_byte, LostBytesWord::Ring.number(), bytes),
        (byte, of_byte, LostBytesWord::BeyondLargestCall.number(), beyond_largest_call),
        (byte, of_byte, LostBytesWord::Unplaced.number(), unplaced),
        (call, of_call, LostCallWord::NoBeginning.number(), calls),
        (call, of_call, LostCallWord::NoRoom.number(), calls_without_room),
        (call, of_call, LostCallWord::OtherSocket.number(), contradicted),
        (connection, of_connection, LostConnectionWord::NoRoom.number(), connections),
        (connection, of_connection, LostConnectionWord::NoSocket.number(), sockets),
    ]
}
