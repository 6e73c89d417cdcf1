//! Tests of header fields recorded for connections that are older than the probe.

use std::time::Duration;

use observer_core::time::Timestamp;

use super::super::Limits;
use super::stage::{CLIENT, GET, RECEIVED, SENT, Stage};

#[test]
fn sent_fields_precede_the_bytes_of_their_goroutine() {
    let mut stage = Stage::recovering();
    stage.take(CLIENT, 1, SENT, 0, b"in the middle");
    stage.sent_field(8, b":path", b"/a");
    stage.sent_field(9, b":path", b"/b");
    stage.sent_field(9, b"accept", b"c");
    stage.headers(9, 7);
    stage.take(CLIENT, 1, SENT, 13, b"a block");
    stage.headers(8, 9);
    stage.headers(9, 11);
    stage.take(CLIENT, 1, SENT, 20, b"another");
    stage.unreadable_field(8);
    stage.sent_field(8, b":path", b"/d");
    stage.headers(8, 13);
    stage.take(CLIENT, 1, SENT, 27, b"a third");
    assert_eq!(
        stage.reports()[1..],
        [
            "1 request 13 bytes",
            "1 request 2 fields of OfStream(7)",
            "1 request 7 bytes",
            "1 request 1 fields of OfStream(9)",
            "1 request 7 bytes",
            "1 request 7 bytes",
        ]
    );
    assert_eq!(stage.assembly.unused_fields(), 2);
}

#[test]
fn header_block_with_a_lost_field_is_dropped_alone() {
    let mut stage = Stage::recovering();
    stage.take(CLIENT, 1, SENT, 0, b"in the middle");
    stage.sent_field(8, b":path", b"/a");
    stage.lost_field(8);
    stage.sent_field(8, b"accept", b"c");
    stage.headers(8, 1);
    stage.sent_field(8, b":path", b"/a");
    stage.lost_field(8);
    stage.headers(8, 3);
    stage.sent_field(8, b":path", b"/a");
    stage.lost_headers(8);
    stage.sent_field(8, b":path", b"/a");
    stage.headers(8, 7);
    stage.take(CLIENT, 1, SENT, 13, b"a block");
    assert_eq!(stage.reports()[1..], ["1 request 13 bytes", "1 request 1 fields of OfStream(7)", "1 request 7 bytes"]);
    assert_eq!(stage.assembly.unused_fields(), 4);
}

#[test]
fn fields_of_an_unwanted_connection_are_not_missed() {
    let mut stage = Stage::recovering();
    stage.take(CLIENT, 1, SENT, 0, b"in the middle");
    stage.sent_field(8, b"authorization", b"a");
    stage.unwanted_headers(8, 1);
    stage.sent_field(8, b":path", b"/b");
    stage.headers(8, 3);
    stage.take(CLIENT, 1, SENT, 13, b"a block");
    assert_eq!(stage.reports()[1..], ["1 request 13 bytes", "1 request 1 fields of OfStream(3)", "1 request 7 bytes"]);
    assert_eq!(stage.assembly.unused_fields(), 0);
}

#[test]
fn received_bytes_wait_for_fields_and_delay_sent_bytes() {
    let mut stage = Stage::recovering_with(Limits { decoding: Duration::from_nanos(20), ..Limits::default() });
    stage.take(CLIENT, 1, RECEIVED, 0, b"first");
    stage.received_field(5, 0);
    stage.received_field(5, 1);
    stage.take(CLIENT, 1, SENT, 0, b"meanwhile");
    assert_eq!(stage.reports().len(), 1, "opened, and no more");
    stage.take(CLIENT, 1, RECEIVED, 5, b"second");
    assert_eq!(stage.reports(), ["1 response 2 fields of OfNextBytes", "1 response 5 bytes", "1 request 9 bytes"]);
    // Its fields belong to bytes that were already passed on.
    stage.received_field(5, 2);
    stage.assembly.release_overdue(Timestamp::from_nanos(7));
    stage.received_field(11, 0);
    stage.assembly.release_overdue(Timestamp::from_nanos(7 + 19));
    assert_eq!(stage.reports(), [""; 0]);
    stage.assembly.release_overdue(Timestamp::from_nanos(7 + 20));
    assert_eq!(stage.reports(), ["1 response 1 fields of OfNextBytes", "1 response 6 bytes"]);
    stage.received_field(11, 1);
    stage.take(CLIENT, 1, SENT, 9, b"at once");
    assert_eq!(stage.reports(), ["1 request 7 bytes"]);
    stage.take(CLIENT, 1, RECEIVED, 11, b"last");
    assert_eq!(stage.reports(), [""; 0]);
    stage.assembly.record_fields(CLIENT, false);
    stage.take(CLIENT, 1, RECEIVED, 15, b"at once");
    stage.close(CLIENT, 1, 16);
    assert_eq!(stage.reports(), ["1 response 4 bytes", "1 response 7 bytes", "1 request ended CloseNotify", "1 closed"]);
    assert_eq!(stage.assembly.unused_fields(), 2);
}

#[test]
fn fields_of_an_incomplete_read_are_dropped() {
    for numbers in [&[1, 2][..], &[0, 2], &[0, 0]] {
        let mut stage = Stage::recovering();
        stage.take(CLIENT, 1, RECEIVED, 0, b"first");
        for number in numbers {
            stage.received_field(5, *number);
        }
        stage.take(CLIENT, 1, RECEIVED, 5, b"second");
        assert_eq!(stage.reports()[1..], ["1 response 5 bytes"], "{numbers:?}");
    }
}

#[test]
fn bytes_wait_only_for_recorded_fields_of_older_connections() {
    for is_recorded in [false, true] {
        let mut stage = Stage::new();
        stage.assembly.record_fields(CLIENT, is_recorded);
        stage.open(CLIENT, 1);
        if is_recorded {
            stage.take(CLIENT, 1, SENT, 0, GET);
        }
        stage.take(CLIENT, 1, RECEIVED, 0, b"HTTP/1.1 200");
        stage.sent_field(9, b":path", b"/b");
        assert_eq!(stage.reports().last().unwrap(), "1 response 12 bytes");
    }
}

#[test]
fn fields_recorded_after_the_first_traffic_are_used() {
    let mut stage = Stage::new();
    stage.open(CLIENT, 1);
    stage.take(CLIENT, 1, RECEIVED, 0, b"first");
    assert_eq!(stage.reports().len(), 2);
    stage.assembly.record_fields(CLIENT, true);
    stage.take(CLIENT, 1, RECEIVED, 5, b"second");
    stage.received_field(11, 0);
    stage.take(CLIENT, 1, RECEIVED, 11, b"third");
    assert_eq!(stage.reports(), ["1 response 1 fields of OfNextBytes", "1 response 6 bytes"]);
}

#[test]
fn unneeded_fields_of_new_connections_are_not_missed() {
    let mut stage = Stage::recovering();
    stage.take(CLIENT, 1, SENT, 0, GET);
    stage.take(CLIENT, 1, RECEIVED, 0, b"first");
    stage.received_field(5, 0);
    assert_eq!(stage.assembly.unused_fields(), 0);
}

#[test]
fn waiting_bytes_and_encoded_fields_are_bounded() {
    let mut stage = Stage::recovering();
    stage.take(CLIENT, 1, RECEIVED, 0, b"first");
    for part in 0..17 {
        stage.take(CLIENT, 1, SENT, part * 16_384, &[0; 16_384]);
    }
    assert_eq!(stage.reports().len(), 19, "all was forwarded");
    for goroutine in 0..5_000 {
        stage.sent_field(goroutine, b"a", &[b'x'; 100]);
    }
    assert_eq!(stage.assembly.unused_fields(), 4_097);
    stage.assembly.exited(Timestamp::from_nanos(9), CLIENT);
    stage.headers(4_999, 7);
    stage.take(CLIENT, 2, SENT, 0, b"a block");
    assert!(!stage.reports().iter().any(|line| line.contains("fields")));
}
