//! Tests of connections: their endpoints, bytes and ends.

use std::time::Duration;

use observer_core::observation::Process;
use observer_core::time::Timestamp;
use observer_ebpf::{Kind, Record, UNDECIDED_BYTES};

use super::super::{Limits, Recording};
use super::stage::{
    CLIENT, CLOSE, CLOSE_WAIT, CLOSING, ECONNRESET, EPIPE, ESTABLISHED, FIN_WAIT1, FIN_WAIT2, GET, LAST_ACK, RECEIVED, SENT,
    SERVER, Stage, container, record,
};
use crate::intake::{Delivery, TapEvent};

#[test]
fn client_and_server_have_the_same_directions() {
    for (process, asks, answers) in [(CLIENT, SENT, RECEIVED), (SERVER, RECEIVED, SENT)] {
        let mut stage = Stage::new();
        stage.open(process, 1);
        stage.take(process, 1, asks, 0, GET);
        stage.take(process, 1, answers, 0, b"HTTP/1.1 200");
        stage.take(process, 1, answers, 12, b" OK");
        stage.close(process, 1, if asks == SENT { 29 } else { 15 });
        let closes = if asks == SENT { "request" } else { "response" };
        assert_eq!(
            stage.reports(),
            [
                "1 opened Some(Http1) Beginning 10.0.0.7:40000 to 10.0.0.1:6443",
                "1 request 29 bytes",
                "1 response 12 bytes",
                "1 response 3 bytes",
                &format!("1 {closes} ended CloseNotify"),
                "1 closed"
            ]
        );
    }
}

#[test]
fn only_client_processes_are_reported() {
    let mut stage = Stage::new();
    stage.begin(CLIENT, 1);
    stage.begin_between(SERVER, 2, "10.0.0.1:6443", "10.0.0.8:40001");
    let processes: Vec<Option<Process>> = stage
        .receiver
        .drain(Duration::ZERO)
        .filter_map(|delivered| {
            let Delivery::Connection(_, TapEvent::Opened { info, .. }) = delivered.delivery else { return None };
            Some(info.process)
        })
        .collect();
    let client = Process { container: Some(Box::new(container())), ..Process::new(CLIENT, 123, "kubectl".to_owned()) };
    assert_eq!(processes, [Some(client), None]);
}

#[test]
fn bytes_wait_until_the_socket_is_known() {
    let mut stage = Stage::new();
    stage.take(CLIENT, 1, SENT, 0, GET);
    stage.unreadable(CLIENT, 1, RECEIVED, 0, 7);
    stage.assembly.expire(Timestamp::from_nanos(1_000_000_000));
    assert_eq!(stage.reports(), [""; 0]);
    stage.open(CLIENT, 1);
    stage.take(CLIENT, 1, RECEIVED, 7, b"HTTP");
    assert_eq!(
        stage.reports(),
        [
            "1 opened Some(Http1) Beginning 10.0.0.7:40000 to 10.0.0.1:6443",
            "1 request 29 bytes",
            "1 response gap 7",
            "1 response 4 bytes"
        ]
    );
}

#[test]
fn bytes_to_other_servers_are_not_counted_as_missed() {
    let mut stage = Stage::new();
    stage.take(CLIENT, 1, SENT, 0, GET);
    stage.take_record(&record(CLIENT, 1, Kind::Elsewhere, 29, 0), b"");
    stage.assembly.finish(Timestamp::from_nanos(2));
    assert_eq!((stage.reports(), stage.assembly.unplaced()), (Vec::new(), 0));
}

#[test]
fn expired_and_excess_waiting_bytes_are_counted() {
    let mut stage = Stage::new();
    stage.take(CLIENT, 1, SENT, 0, GET);
    stage.assembly.expire(Timestamp::from_nanos(1_000_000_002));
    assert_eq!(stage.assembly.unplaced(), 29);
    let most = usize::try_from(UNDECIDED_BYTES).unwrap();
    stage.take(CLIENT, 1, RECEIVED, 0, &vec![b'x'; most]);
    stage.take(CLIENT, 1, RECEIVED, most as u64, b"one more");
    assert_eq!(stage.assembly.unplaced(), 29 + 8);
    stage.open(CLIENT, 1);
    let reports = ["1 opened None Middle 10.0.0.7:40000 to 10.0.0.1:6443", "1 response 65536 bytes"];
    assert_eq!(stage.reports(), reports);
    stage.take(CLIENT, 1, SENT, 29, b"later");
    assert_eq!(stage.reports(), ["1 request gap 29", "1 request 5 bytes"]);
}

#[test]
fn waiting_bytes_are_bounded_over_all_connections() {
    let mut stage = Stage::with(Limits { waiting_bytes: 40, ..Limits::default() });
    stage.take(CLIENT, 1, SENT, 0, GET);
    stage.take(CLIENT + 1, 1, SENT, 0, GET);
    assert_eq!(stage.assembly.unplaced(), 29);
    stage.open(CLIENT, 1);
    stage.take(CLIENT + 1, 1, SENT, 29, GET);
    assert_eq!(stage.assembly.unplaced(), 29, "the first waits no more");
    stage.begin_between(CLIENT + 2, 1, "10.0.0.7:40002", "10.0.0.1:6443");
    stage.assembly.finish(Timestamp::from_nanos(1));
    assert_eq!(stage.assembly.unplaced(), 29 + 29, "what found room waited in vain");
}

/// The programs keep the connections that were used last. One that they forget is new to them with its next call.
#[test]
fn followed_connection_that_the_programs_forget_is_counted() {
    for is_socket_known_first in [true, false] {
        let mut stage = Stage::new();
        let ends = ["10.0.0.7:40000", "10.0.0.1:6443"];
        let open = |stage: &mut Stage, socket, since| {
            assert_eq!(stage.open_at(since, socket, (CLIENT, since), ends), Recording::Continues);
        };
        open(&mut stage, 1, 1);
        stage.take(CLIENT, 1, SENT, 0, GET);
        if is_socket_known_first {
            open(&mut stage, 1, 2);
            stage.take(CLIENT, 2, RECEIVED, 0, b"an event");
        } else {
            stage.take(CLIENT, 2, RECEIVED, 0, b"an event");
            open(&mut stage, 1, 2);
        }
        let opened = |id: u32, start| format!("{id} opened {start} 10.0.0.7:40000 to 10.0.0.1:6443");
        assert_eq!(
            stage.reports(),
            [
                &opened(1, "Some(Http1) Beginning"),
                "1 request 29 bytes",
                "1 out of sight",
                "1 closed",
                &opened(2, "None Middle"),
                "2 response 8 bytes"
            ]
        );
        assert_eq!(stage.assembly.forgotten(), 1);
        // Another connection at this address of the process has another socket.
        open(&mut stage, 2, 3);
        assert_eq!(stage.assembly.forgotten(), 1);
    }
}

#[test]
fn records_count_as_work_of_their_file() {
    let mut stage = Stage::new();
    let work = stage.assembly.work();
    stage.take(CLIENT, 1, SENT, 0, &[b'x'; 600]);
    assert_eq!(work.unassigned(), 600, "its file is unknown");
    stage.open(CLIENT, 1);
    stage.take(CLIENT, 1, RECEIVED, 0, &[b'x'; 10_000]);
    stage.take(CLIENT, 1, RECEIVED, 10_000, b"an event");
    let file = u16::try_from(CLIENT).unwrap();
    assert_eq!((work.of(file), work.unassigned()), (10_000 + 512, 600));
}

#[test]
fn beginning_is_recognized_by_the_first_client_bytes() {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    for (way, offset, bytes, expected) in [
        (SENT, 0, &preface[..], "Some(Http2) Beginning"),
        (SENT, 0, GET, "Some(Http1) Beginning"),
        (SENT, 0, b"\0\0\x08\x06\0\0\0\0\0", "None Middle"),
        (SENT, 16_384, GET, "None Middle"),
        (RECEIVED, 0, b"HTTP/1.1 200 OK\r\n", "None Middle"),
    ] {
        let mut stage = Stage::new();
        stage.open(CLIENT, 1);
        stage.take(CLIENT, 1, way, offset, bytes);
        let opened = format!("1 opened {expected} 10.0.0.7:40000 to 10.0.0.1:6443");
        assert_eq!(stage.reports().first(), Some(&opened), "{way:?} {offset} {bytes:?}");
    }
}

#[test]
fn missing_records_become_gaps_of_known_length() {
    let mut stage = Stage::new();
    stage.begin(CLIENT, 1);
    stage.take(CLIENT, 1, RECEIVED, 100, b"behind a hole");
    stage.unreadable(CLIENT, 1, RECEIVED, 113, 50);
    stage.take(CLIENT, 1, RECEIVED, 163, b"again");
    // Reported before, except for its last byte.
    stage.take(CLIENT, 1, RECEIVED, 163, b"again!");
    stage.close_after(CLIENT, 1, 40, 180);
    assert_eq!(
        stage.reports()[1..],
        [
            "1 request 29 bytes",
            "1 response gap 100",
            "1 response 13 bytes",
            "1 response gap 50",
            "1 response 5 bytes",
            "1 response 1 bytes",
            "1 request gap 11",
            "1 response gap 11",
            "1 request ended CloseNotify",
            "1 closed"
        ]
    );
}

#[test]
fn same_end_of_another_socket_is_another_connection() {
    let mut stage = Stage::new();
    stage.begin(CLIENT, 1);
    stage.begin(CLIENT + 1, 2);
    assert_eq!(stage.opens(CLIENT + 1, 2), Recording::Continues, "reported again by another thread");
    assert_eq!(stage.assembly.followed(), 2);
}

#[test]
fn reused_memory_ends_the_former_connection() {
    let mut stage = Stage::new();
    stage.begin(CLIENT, 1);
    stage.begin(CLIENT, 2);
    assert_eq!(stage.assembly.followed(), 1);
    assert_eq!(stage.reports()[2..4], ["1 out of sight", "1 closed"]);
}

#[test]
fn detaching_a_file_ends_only_its_connections() {
    let mut stage = Stage::new();
    stage.begin(CLIENT, 1);
    stage.begin_between(CLIENT + 1, 2, "10.0.0.7:40001", "10.0.0.1:6443");
    stage.assembly.detached(Timestamp::from_nanos(3), CLIENT.try_into().unwrap());
    assert_eq!(stage.reports()[4..], ["1 out of sight", "1 closed"]);
    stage.take(CLIENT + 1, 2, SENT, GET.len() as u64, GET);
    assert_eq!(stage.reports(), ["2 request 29 bytes"]);
}

#[test]
fn finish_closes_connections_still_open() {
    let mut stage = Stage::new();
    stage.begin(CLIENT, 1);
    stage.begin_between(CLIENT + 1, 2, "10.0.0.7:40001", "10.0.0.1:6443");
    stage.assembly.exited(Timestamp::from_nanos(2), CLIENT + 1);
    stage.assembly.finish(Timestamp::from_nanos(3));
    assert_eq!(stage.reports()[4..], ["2 request ended Fin", "2 closed", "1 out of sight", "1 closed"]);
    assert_eq!(stage.assembly.followed(), 0);
}

#[test]
fn socket_states_determine_how_a_connection_ended() {
    let fin = [(ESTABLISHED, FIN_WAIT1, 0), (FIN_WAIT1, FIN_WAIT2, 0), (FIN_WAIT2, CLOSE, 0)];
    let followed = [(ESTABLISHED, CLOSE_WAIT, 0), (CLOSE_WAIT, LAST_ACK, 0), (LAST_ACK, CLOSE, 0)];
    for (states, expected) in [
        (&fin[..], &["1 request ended Fin"][..]),
        (&followed[..], &["1 response ended Fin", "1 request ended Fin"][..]),
        (&followed[..1], &["1 response ended Fin", "1 request ended CloseNotify"][..]),
        (&[(ESTABLISHED, CLOSE, ECONNRESET)][..], &["1 response ended Reset"][..]),
        (&[(ESTABLISHED, CLOSE, 0)][..], &["1 request ended Reset"][..]),
        (&[(ESTABLISHED, CLOSE_WAIT, 0), (CLOSE_WAIT, CLOSE, 0)][..], &["1 response ended Fin", "1 request ended Reset"][..]),
        (&[(CLOSE_WAIT, CLOSE, EPIPE)][..], &["1 response ended Fin", "1 request ended CloseNotify"][..]),
        (&[][..], &["1 request ended CloseNotify"][..]),
    ] {
        let mut stage = Stage::new();
        stage.begin(CLIENT, 1);
        stage.reports();
        for (before, after, error) in states {
            stage.changes(1, *before, *after, *error);
        }
        assert_eq!(stage.reports(), [""; 0], "the process may have bytes to read still: {states:?}");
        stage.close(CLIENT, 1, 29);
        let reports = stage.reports();
        assert_eq!(reports[..reports.len() - 1], *expected, "{states:?}");
        assert_eq!(reports.last().unwrap(), "1 closed");
    }
}

#[test]
fn connection_abandoned_without_close_notify_ends_like_its_socket() {
    for (error, expected) in [(0, "1 request ended Reset"), (ECONNRESET, "1 response ended Reset")] {
        let mut stage = Stage::new();
        stage.begin(CLIENT, 1);
        let silent = record(CLIENT, 1, Kind::Closed, 29, 0);
        assert_eq!(stage.assembly.take(Timestamp::from_nanos(2), &silent, b"", None), Recording::Continues);
        assert_eq!(stage.assembly.followed(), 1);
        stage.changes(1, ESTABLISHED, CLOSE, error);
        assert_eq!(stage.reports()[2..], [expected, "1 closed"]);
    }
}

#[test]
fn socket_end_before_its_discovery_is_reported() {
    let fins = ["1 response ended Fin", "1 request ended Fin"];
    for (states, expected) in [
        (&[(0, CLOSE_WAIT, 0), (CLOSE_WAIT, LAST_ACK, 0)][..], &fins[..]),
        (&[(ESTABLISHED, CLOSE_WAIT, 0), (0, CLOSE_WAIT, 0), (CLOSE_WAIT, LAST_ACK, 0)], &fins),
        (&[(CLOSE_WAIT, LAST_ACK, 0)], &fins),
        (&[(0, LAST_ACK, 0)], &fins),
        (&[(0, FIN_WAIT2, 0)], &fins[1..]),
        (&[(0, CLOSING, 0)], &["1 request ended Fin", "1 response ended Fin"]),
        (&[(0, CLOSE, ECONNRESET)], &["1 response ended Reset"]),
        (&[(0, CLOSE, ECONNRESET), (ESTABLISHED, CLOSE, ECONNRESET)], &["1 response ended Reset"]),
        (&[(0, CLOSE, EPIPE)], &fins[..1]),
        // Another thread of the process had taken the error.
        (&[(0, CLOSE, 0)], &[]),
    ] {
        let mut stage = Stage::new();
        stage.open(CLIENT, 1);
        for (before, after, error) in states {
            stage.changes(1, *before, *after, *error);
        }
        stage.take(CLIENT, 1, SENT, 0, GET);
        stage.reports();
        stage.assembly.exited(Timestamp::from_nanos(3), CLIENT);
        stage.assembly.expire(Timestamp::from_nanos(2_000_000_000));
        let reports = stage.reports();
        assert_eq!(reports[..reports.len() - 1], *expected, "{states:?}");
        assert_eq!(reports.last().unwrap(), "1 closed");
    }
}

#[test]
fn socket_end_recorded_before_the_beginning_is_kept() {
    let mut stage = Stage::new();
    stage.changes_at(0, 1, ESTABLISHED, CLOSE, 0);
    stage.changes(1, ESTABLISHED, CLOSE_WAIT, 0);
    stage.assembly.expire(Timestamp::from_nanos(1_000_000_000));
    stage.begin(CLIENT, 1);
    stage.close(CLIENT, 1, 29);
    assert_eq!(stage.reports()[2..], ["1 response ended Fin", "1 request ended CloseNotify", "1 closed"]);

    stage.changes(2, ESTABLISHED, CLOSE_WAIT, 0);
    stage.assembly.expire(Timestamp::from_nanos(1_000_000_002));
    stage.begin(CLIENT, 2);
    stage.close(CLIENT, 2, 29);
    assert_eq!(stage.reports()[2..], ["2 request ended CloseNotify", "2 closed"]);
}

#[test]
fn state_change_applies_to_the_owner_at_that_time() {
    let mut stage = Stage::new();
    for (time, process, client) in [(10, CLIENT, "10.0.0.7:40000"), (30, CLIENT + 1, "10.0.0.7:40001")] {
        assert_eq!(stage.open_at(time, 9, (process, time), [client, "10.0.0.1:6443"]), Recording::Continues);
        stage.take(process, time, SENT, 0, GET);
    }
    stage.reports();
    stage.changes_at(20, 9, ESTABLISHED, CLOSE, ECONNRESET);
    stage.changes_at(40, 9, ESTABLISHED, CLOSE_WAIT, 0);
    stage.assembly.expire(Timestamp::from_nanos(1_000_000_020));
    assert_eq!(stage.reports(), ["1 response ended Reset", "1 closed"]);
    stage.changes_at(50, 9, CLOSE_WAIT, CLOSE, 0);
    stage.assembly.expire(Timestamp::from_nanos(1_000_000_050));
    assert_eq!(stage.reports(), ["2 response ended Fin", "2 request ended Reset", "2 closed"]);
}

#[test]
fn late_reads_postpone_the_end() {
    let mut stage = Stage::new();
    stage.open(CLIENT, 1);
    stage.changes(1, 0, CLOSE, ECONNRESET);
    for (at, way, bytes) in [(1, SENT, GET), (900_000_000, RECEIVED, b"HTTP"), (1_800_000_000, RECEIVED, b"/1.1")] {
        stage.assembly.expire(Timestamp::from_nanos(at));
        let offset = if at == 1_800_000_000 { 4 } else { 0 };
        let record = record(CLIENT, 1, way, offset, bytes.len());
        assert_eq!(stage.assembly.take(Timestamp::from_nanos(at), &record, bytes, None), Recording::Continues);
    }
    stage.assembly.expire(Timestamp::from_nanos(2_799_999_999));
    assert_eq!(stage.reports()[1..], ["1 request 29 bytes", "1 response 4 bytes", "1 response 4 bytes"]);
    stage.assembly.expire(Timestamp::from_nanos(2_800_000_000));
    assert_eq!(stage.reports(), ["1 response ended Reset", "1 closed"]);
}

#[test]
fn socket_closed_before_any_bytes_is_forgotten() {
    let mut stage = Stage::new();
    stage.open(CLIENT, 1);
    stage.changes(1, 0, CLOSE, ECONNRESET);
    stage.assembly.expire(Timestamp::from_nanos(1_000_000_002));
    stage.take(CLIENT, 1, SENT, 0, GET);
    stage.assembly.expire(Timestamp::from_nanos(3_000_000_000));
    assert_eq!((stage.reports(), stage.assembly.unplaced()), (Vec::new(), 29));
}

#[test]
fn closed_socket_ends_a_connection_kept_by_its_library() {
    let mut stage = Stage::new();
    stage.begin(CLIENT, 1);
    stage.changes(1, ESTABLISHED, CLOSE, ECONNRESET);
    stage.assembly.expire(Timestamp::from_nanos(1_000_000_001));
    assert_eq!(stage.assembly.followed(), 1);
    stage.assembly.expire(Timestamp::from_nanos(1_000_000_002));
    assert_eq!(stage.reports()[2..], ["1 response ended Reset", "1 closed"]);
}

#[test]
fn process_exit_waits_for_its_sockets_to_close() {
    let mut stage = Stage::new();
    stage.begin(CLIENT, 1);
    stage.assembly.exited(Timestamp::from_nanos(2), CLIENT);
    assert_eq!(stage.assembly.followed(), 1);
    stage.changes(1, ESTABLISHED, CLOSE, 0);
    assert_eq!(stage.reports()[2..], ["1 request ended Reset", "1 closed"]);

    let mut without_sockets = Stage::with(Limits { linger: Duration::ZERO, ..Limits::default() });
    without_sockets.begin(CLIENT, 1);
    without_sockets.assembly.exited(Timestamp::from_nanos(2), CLIENT);
    without_sockets.assembly.expire(Timestamp::from_nanos(2));
    assert_eq!(without_sockets.reports()[2..], ["1 request ended Fin", "1 closed"]);
}

#[test]
fn excess_connections_and_unknown_records_are_counted() {
    let mut stage = Stage::with(Limits { connections: 1, ..Limits::default() });
    stage.begin(CLIENT, 1);
    assert_eq!(stage.opens(CLIENT + 1, 1), Recording::Stops);
    stage.take(CLIENT + 1, 1, SENT, 0, GET);
    stage.take(CLIENT + 2, 1, SENT, 0, GET);
    assert_eq!((stage.intake.losses().connections, stage.assembly.unplaced()), (1, 29));
    for kind in [77, Kind::Opened as u32] {
        let unknown = Record { kind, ..record(CLIENT, 1, SENT, 0, 0) };
        assert_eq!(stage.assembly.take(Timestamp::default(), &unknown, b"short", None), Recording::Continues);
    }
    assert_eq!((stage.assembly.followed(), stage.assembly.ignored()), (1, 2));
}
