//! Flow-control windows.

use super::super::super::Direction::{Request, Response};
use super::super::super::Start;
use super::transcript::Tap;
use super::wire::{
    END_STREAM, PADDED, data, frame, get, headers, preface, rst_stream, server_preface, settings, settings_ack, window_update,
};

#[test]
fn windows_shrink_by_data_with_padding_and_grow_by_updates() {
    let mut tap = watching();
    tap.bytes(Response, &data(PADDED, 1, b"\x02abc\0\0"));
    assert_eq!(windows(&tap), (Some(65_529), Some(65_529)));
    tap.bytes(Request, &window_update(1, 1000));
    tap.bytes(Request, &window_update(0, 1));
    assert_eq!(windows(&tap), (Some(65_530), Some(66_529)));
    assert_eq!(tap.decoder.send_window(Request, None), Some(65_535), "the other direction has windows of its own");
}

#[test]
fn data_is_counted_at_its_frame_header_despite_gaps() {
    let mut tap = watching();
    tap.bytes(Response, &data(0, 1, &[0; 1000])[..9]);
    assert_eq!(windows(&tap), (Some(64_535), Some(64_535)));
    tap.gap(Response, Some(1), 1000);
    assert_eq!(windows(&tap), (Some(64_535), Some(64_535)));
}

#[test]
fn initial_window_changes_open_streams_when_it_is_acknowledged() {
    let mut tap = watching();
    tap.bytes(Response, &data(0, 1, &[0; 1000]));
    tap.bytes(Request, &settings(&[(4, 100)]));
    assert_eq!(windows(&tap), (Some(64_535), Some(64_535)));
    tap.bytes(Response, &settings_ack());
    assert_eq!(windows(&tap), (Some(64_535), Some(-900)), "the window of the connection is not changed by SETTINGS");
}

#[test]
fn data_of_closed_streams_counts_for_the_connection() {
    let mut tap = watching();
    tap.bytes(Request, &rst_stream(1, 8));
    tap.bytes(Response, &data(0, 1, &[0; 1000]));
    assert_eq!(windows(&tap), (Some(64_535), None));
}

#[test]
fn windows_are_unknown_after_decoding_stops() {
    let mut tap = watching();
    tap.bytes(Request, &frame(6, 0, 0, b"1"));
    assert_eq!(windows(&tap), (None, None));
}

/// A watch on stream 1.
fn watching() -> Tap {
    let mut tap = Tap::new(Start::Beginning);
    tap.bytes(Request, &[preface(), headers(END_STREAM, 1, &get("/a"))].concat());
    tap.bytes(Response, &[server_preface(), headers(0, 1, b"\x88")].concat());
    tap
}

/// How much the server may send: on the connection, and on stream 1.
fn windows(tap: &Tap) -> (Option<i64>, Option<i64>) {
    (tap.decoder.send_window(Response, None), tap.decoder.send_window(Response, Some(1)))
}

#[test]
fn exhausted_window_and_its_reopening_are_each_reported_once() {
    let mut tap = watching();
    tap.bytes(Request, &window_update(0, 100_000));
    for _ in 0..3 {
        tap.bytes(Response, &data(0, 1, &[0; 16_384]));
    }
    tap.bytes(Response, &data(0, 1, &[0; 16_383]));
    tap.bytes(Response, &data(0, 1, &[]));
    tap.bytes(Request, &window_update(1, 10));
    tap.bytes(Request, &window_update(1, 10));
    assert_eq!(events_of_windows(tap), ["< 1 window used up", "< 1 window open"]);
}

#[test]
fn exhausted_connection_window_is_distinguished_from_a_stream_window() {
    let mut tap = watching();
    tap.bytes(Request, &window_update(1, 100_000));
    for length in [16_384, 16_384, 16_384, 16_383] {
        tap.bytes(Response, &data(0, 1, &vec![0; length]));
    }
    tap.bytes(Request, &window_update(0, 10));
    assert_eq!(events_of_windows(tap), ["< connection window used up", "< connection window open"]);
}

#[test]
fn settings_exhaust_and_reopen_stream_windows() {
    let mut tap = watching();
    tap.bytes(Response, &data(0, 1, &[0; 1000]));
    for window in [1000, 1001] {
        tap.bytes(Request, &settings(&[(4, window)]));
        tap.bytes(Response, &settings_ack());
    }
    assert_eq!(events_of_windows(tap), ["< 1 window used up", "< 1 window open"]);
}

#[test]
fn exhausted_window_reopens_when_it_becomes_unknown() {
    let mut tap = watching();
    tap.bytes(Request, &settings(&[(4, 0)]));
    tap.bytes(Response, &settings_ack());
    tap.bytes(Request, &frame(6, 0, 0, b"1"));
    assert_eq!(events_of_windows(tap), ["< 1 window used up", "< 1 window open"]);
}

fn events_of_windows(tap: Tap) -> Vec<String> {
    tap.text().lines().filter(|line| line.contains(" window ")).map(str::to_owned).collect()
}
