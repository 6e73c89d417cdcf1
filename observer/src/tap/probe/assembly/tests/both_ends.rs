//! Tests of connections with both ends on this machine.

use observer_core::time::Timestamp;

use super::super::Recording;
use super::stage::{CLIENT, GET, RECEIVED, SENT, SERVER, Stage};

/// The ends of a connection within this machine.
const CLIENT_END: &str = "127.0.0.1:40000";
const SERVER_END: &str = "127.0.0.1:6443";

#[test]
fn connection_is_reported_by_its_first_known_end() {
    for (first, second) in [(CLIENT, SERVER), (SERVER, CLIENT)] {
        let mut stage = Stage::new();
        stage.begin(first, 1);
        assert_eq!(stage.opens(second, 2), Recording::Stops);
        stage.take(second, 2, SENT, 0, GET);
        stage.close(second, 2, 29);
        stage.close(first, 1, 29);
        assert_eq!(stage.reports().len(), 4, "one connection's beginning, bytes, end and close");
    }
}

#[test]
fn late_second_end_joins_the_closed_connection() {
    for (first, second) in [(CLIENT, SERVER), (SERVER, CLIENT)] {
        let mut stage = Stage::new();
        stage.begin(first, 1);
        stage.close(first, 1, 29);
        assert_eq!(stage.opens(second, 2), Recording::Stops);
        stage.reports();
        // Once a connection is over, a new end on the same side belongs to another connection.
        stage.begin(first, 3);
        stage.close(first, 3, 29);
        assert_eq!(stage.reports().len(), 4);
        // Some time later, a new end on the other side belongs to another connection, too.
        stage.assembly.expire(Timestamp::from_nanos(2_000_000_000));
        stage.begin(second, 4);
        assert_eq!(stage.reports().len(), 2);
    }
}

#[test]
fn client_process_is_found_after_the_server_end() {
    let mut stage = Stage::new();
    server_sends(&mut stage);
    let opened = "1 opened None Middle 127.0.0.1:40000 to 127.0.0.1:6443";
    assert_eq!(stage.reports(), [opened, "1 response 29 bytes"]);
    assert_eq!(stage.open_between(CLIENT, 2, CLIENT_END, SERVER_END), Recording::Stops);
    assert_eq!(stage.reports(), [format!("1 of {:?}", Some(CLIENT))]);
}

#[test]
fn wait_for_a_client_process_is_bounded() {
    let mut stage = Stage::new();
    server_sends(&mut stage);
    stage.reports();
    stage.assembly.expire(Timestamp::from_nanos(50_000_000));
    assert_eq!(stage.reports(), [""; 0]);
    stage.assembly.expire(Timestamp::from_nanos(100_000_001));
    assert_eq!(stage.reports(), ["1 of None"]);
}

#[test]
fn client_known_before_first_server_bytes_has_its_process() {
    let mut stage = Stage::new();
    assert_eq!(stage.open_between(SERVER, 1, SERVER_END, CLIENT_END), Recording::Continues);
    assert_eq!(stage.open_between(CLIENT, 2, CLIENT_END, SERVER_END), Recording::Stops);
    stage.take(SERVER, 1, RECEIVED, 0, GET);
    assert_eq!(stage.opened_by(), [Some(CLIENT)]);
}

#[test]
fn connection_counts_at_its_server_end_alone() {
    for client_is_first in [true, false] {
        let mut stage = Stage::of_server_ends();
        if client_is_first {
            assert_eq!(stage.open_between(CLIENT, 2, CLIENT_END, SERVER_END), Recording::Stops);
        }
        assert_eq!(stage.open_between(SERVER, 1, SERVER_END, CLIENT_END), Recording::Continues);
        if !client_is_first {
            assert_eq!(stage.open_between(CLIENT, 2, CLIENT_END, SERVER_END), Recording::Stops);
        }
        stage.take(SERVER, 1, RECEIVED, 0, GET);
        assert_eq!(stage.opened_by(), [Some(CLIENT)], "{client_is_first}");
        // Its client dialled another address, which was translated.
        assert_eq!(stage.open_between(CLIENT, 3, "127.0.0.1:40001", "10.96.0.1:443"), Recording::Stops);
        assert_eq!(stage.open_between(SERVER, 4, SERVER_END, "10.0.0.7:40001"), Recording::Continues);
        stage.take(SERVER, 4, RECEIVED, 0, GET);
        assert_eq!(stage.opened_by(), [None]);
        stage.close(SERVER, 1, 0);
        stage.close(SERVER, 4, 0);
    }
}

#[test]
fn client_process_is_kept_for_its_server_end_for_a_second() {
    let mut stage = Stage::of_server_ends();
    assert_eq!(stage.open_between(CLIENT, 2, "10.0.0.7:40000", "10.0.0.1:6443"), Recording::Stops);
    stage.assembly.expire(Timestamp::from_nanos(1_000_000_001));
    assert_eq!(stage.open_between(SERVER, 1, "10.0.0.1:6443", "10.0.0.7:40000"), Recording::Continues);
    stage.take(SERVER, 1, RECEIVED, 0, GET);
    assert_eq!(stage.opened_by(), [None]);
}

fn server_sends(stage: &mut Stage) {
    assert_eq!(stage.open_between(SERVER, 1, SERVER_END, CLIENT_END), Recording::Continues);
    stage.take(SERVER, 1, SENT, 0, GET);
}
