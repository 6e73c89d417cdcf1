//! Delivery to receivers that are slow, refuse, or are gone for a while, and the account of the rest.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use observer_core::observer::Event;
use observer_core::series::TapWord;
use observer_core::time::Timestamp;
use observer_tests::{OtlpReceiver, OtlpReply, Port, ScriptedUpstream, read_head};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use watchtap::memory_budget::OtlpLimits;
use watchtap::metrics::MetricsReader;
use watchtap::otlp::{Bounds, OtlpSink, Settings};
use watchtap::pipeline::{EventSink, SeriesReader};

/// Where a request that is sent again would change the counts.
const NO_TIME_LIMIT: (&str, &str) = ("OTEL_EXPORTER_OTLP_TIMEOUT", "120000");

#[test]
fn records_arrive_in_order_with_headers_and_resource() {
    let receiver = OtlpReceiver::start(0, []).unwrap();
    let mut sink = exporting(
        &receiver.url(),
        &[
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20t0k3n,x-tenant=a"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            NO_TIME_LIMIT,
            ("OTEL_RESOURCE_ATTRIBUTES", "k8s.node.name=n1"),
        ],
        bounds(),
    );
    (0..3_000).for_each(|number| emit(&mut sink, number));
    assert_eq!((sink.finish(), sink.take_undelivered()), (vec![], 0));
    assert_eq!(numbers(&receiver.records()), (0..3_000).collect::<Vec<_>>());
    for request in receiver.requests() {
        let field = |name: &str| request.headers[name].to_str().unwrap().to_owned();
        assert_eq!(request.path, "/v1/logs");
        assert_eq!(["authorization", "x-tenant", "content-type"].map(field), ["Bearer t0k3n", "a", "application/x-protobuf"]);
        let attribute = |name: &str| request.resource.attributes.iter().find(|one| one.key == name)?.value.clone()?.value;
        assert_eq!(attribute("service.name"), Some(Value::StringValue("watchtap".to_owned())));
        assert_eq!(attribute("k8s.node.name"), Some(Value::StringValue("n1".to_owned())));
    }
}

#[test]
fn restarted_receiver_gets_everything_within_the_bound() {
    let port = Port::reserve().unwrap();
    let url = format!("http://127.0.0.1:{}", port.number());
    let mut sink = exporting(&url, &[], bounds());
    emit(&mut sink, 0);
    let first = OtlpReceiver::start(port.number(), []).unwrap();
    first.wait_until(|requests| !requests.is_empty()).unwrap();
    let mut received = numbers(&first.records());
    drop(first);
    (1..100).for_each(|number| emit(&mut sink, number));
    let second = OtlpReceiver::start(port.number(), []).unwrap();
    assert_eq!((sink.finish(), sink.take_undelivered()), (vec![], 0));
    received.extend(numbers(&second.records()));
    // The first receiver may have gone before its answer.
    received.dedup();
    assert_eq!(received, (0..100).collect::<Vec<_>>());
}

#[test]
fn records_beyond_the_bound_are_counted() {
    let port = Port::reserve().unwrap();
    let url = format!("http://127.0.0.1:{}", port.number());
    let mut sink = exporting(&url, &[], Bounds { memory: OtlpLimits { queue: 20_000, ..OtlpLimits::default() }, ..bounds() });
    (0..1_000).for_each(|number| emit(&mut sink, number));
    let lost = sink.take_undelivered();
    assert!((900..990).contains(&lost), "{lost}");
    let receiver = OtlpReceiver::start(port.number(), []).unwrap();
    let troubles = sink.finish();
    assert_eq!(sink.take_undelivered(), 0);
    // The oldest are kept.
    assert_eq!(numbers(&receiver.records()), (0..1_000 - lost).collect::<Vec<_>>());
    assert_eq!(troubles, [format!("{lost} OTLP records did not reach {url}: {lost} without room in the queue")]);
}

#[test]
fn refused_records_are_not_sent_again() {
    let receiver = OtlpReceiver::start(0, [OtlpReply::Status(400, None), OtlpReply::Status(401, None)]).unwrap();
    let mut sink = exporting(&receiver.url(), &[NO_TIME_LIMIT], bounds());
    for (number, requests) in [(0, 1), (1, 2), (2, 3)] {
        emit(&mut sink, number);
        receiver.wait_until(|received| received.len() >= requests).unwrap();
    }
    let troubles = sink.finish();
    assert_eq!(receiver.requests().iter().map(|request| numbers(&request.records)).collect::<Vec<_>>(), [[0], [1], [2]]);
    assert_eq!(sink.take_undelivered(), 2);
    assert!(troubles[0].ends_with("2 refused (401 Unauthorized; check OTEL_EXPORTER_OTLP_HEADERS)"), "{troubles:?}");
}

#[test]
fn records_that_may_be_sent_again_are() {
    let replies = [429, 502, 503, 504].map(|status| OtlpReply::Status(status, None));
    let receiver = OtlpReceiver::start(0, replies).unwrap();
    let mut sink = exporting(&receiver.url(), &[NO_TIME_LIMIT], bounds());
    emit(&mut sink, 0);
    receiver.wait_until(|received| received.len() >= 5).unwrap();
    assert_eq!((sink.finish(), sink.take_undelivered()), (vec![], 0));
    assert_eq!(numbers(&receiver.records()), [0]);
}

#[test]
fn retry_after_is_honoured_at_the_end_too() {
    let receiver = OtlpReceiver::start(0, [OtlpReply::Status(503, Some(1)), OtlpReply::Take, OtlpReply::Status(503, Some(3_600))]);
    let receiver = receiver.unwrap();
    let mut sink = exporting(&receiver.url(), &[NO_TIME_LIMIT], Bounds::default());
    emit(&mut sink, 0);
    receiver.wait_until(|received| received.len() >= 2).unwrap();
    let requests = receiver.requests();
    // The receiver notes the time before it answers, so the pause between the two is longer.
    assert!(requests[1].at - requests[0].at >= Duration::from_secs(1));
    emit(&mut sink, 1);
    receiver.wait_until(|received| received.len() >= 3).unwrap();
    let troubles = sink.finish();
    assert_eq!((receiver.requests().len(), sink.take_undelivered()), (3, 1));
    assert!(troubles[0].ends_with("1 unsent at the end (503 Service Unavailable)"), "{troubles:?}");
}

#[test]
fn partial_success_is_counted_without_the_token() {
    let receiver = OtlpReceiver::start(0, [OtlpReply::Reject(1, "t0k3n has a quota".to_owned())]).unwrap();
    let mut sink =
        exporting(&receiver.url(), &[("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20t0k3n"), NO_TIME_LIMIT], bounds());
    emit(&mut sink, 0);
    let troubles = sink.finish();
    assert_eq!((receiver.requests().len(), sink.take_undelivered()), (1, 1));
    assert!(troubles[0].ends_with("1 refused (REDACTED has a quota)"), "{troubles:?}");
}

#[test]
fn silent_receiver_delays_nothing_but_the_end() {
    let receiver = OtlpReceiver::start(0, [OtlpReply::Silence]).unwrap();
    let mut sink = exporting(&receiver.url(), &[NO_TIME_LIMIT], Bounds::default());
    emit(&mut sink, 0);
    receiver.wait_until(|received| !received.is_empty()).unwrap();
    // Nothing here waits for the receiver, which never answers.
    (1..1_000).for_each(|number| emit(&mut sink, number));
    let begun = Instant::now();
    let troubles = sink.finish();
    assert!(begun.elapsed() >= Duration::from_secs(2), "the receiver has two seconds for the rest");
    assert_eq!(sink.take_undelivered(), 1_000);
    assert!(troubles[0].contains("1000 unsent at the end"), "{troubles:?}");
}

#[test]
fn receiver_that_never_answers_is_tried_again_after_the_time_limit() {
    let receiver = OtlpReceiver::start(0, [OtlpReply::Silence]).unwrap();
    let mut sink = exporting(&receiver.url(), &[("OTEL_EXPORTER_OTLP_TIMEOUT", "2000")], bounds());
    emit(&mut sink, 0);
    receiver.wait_until(|received| received.len() >= 2).unwrap();
    assert_eq!((sink.finish(), sink.take_undelivered()), (vec![], 0));
}

#[test]
fn answer_whose_body_stalls_counts_by_its_status() {
    let receiver = OtlpReceiver::start(0, [OtlpReply::Stall]).unwrap();
    let mut sink = exporting(&receiver.url(), &[NO_TIME_LIMIT], bounds());
    emit(&mut sink, 0);
    receiver.wait_until(|received| !received.is_empty()).unwrap();
    emit(&mut sink, 1);
    receiver.wait_until(|received| received.len() >= 2).unwrap();
    assert_eq!((sink.finish(), sink.take_undelivered()), (vec![], 0));
    assert_eq!(numbers(&receiver.records()), [0, 1]);
}

#[test]
fn collector_is_trusted_by_the_given_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let (answered, answers) = channel();
    let answered = Mutex::new(answered);
    let server = ScriptedUpstream::start(&[b"http/1.1"], move |stream| {
        let Some(head) = read_head(stream)? else { return Ok(()) };
        io::copy(&mut stream.take(length(&head)), &mut io::sink())?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?;
        answered.lock().unwrap().send(head).map_err(io::Error::other)
    });
    let server = server.unwrap();
    let authority = folder.path().join("ca.pem");
    std::fs::write(&authority, server.ca_pem()).unwrap();
    let url = format!("https://{}", server.address());
    let variable = ("OTEL_EXPORTER_OTLP_CERTIFICATE", authority.to_str().unwrap());
    let mut sink = exporting(&url, &[variable], bounds());
    emit(&mut sink, 0);
    assert_eq!((sink.finish(), sink.take_undelivered()), (vec![], 0));
    assert!(answers.recv().unwrap().starts_with("POST /v1/logs HTTP/1.1"));

    // Not the store of the system, which may be empty or large.
    let foreign = ScriptedUpstream::start(&[b"http/1.1"], |_stream| Ok(())).unwrap();
    std::fs::write(&authority, foreign.ca_pem()).unwrap();
    let mut sink = exporting(&url, &[variable], Bounds { flush: Duration::from_secs(5), ..bounds() });
    emit(&mut sink, 0);
    let troubles = sink.finish();
    assert!(troubles[0].contains("unsent at the end (TLS: invalid peer certificate"), "{troubles:?}");
    assert!(troubles[0].contains("; check OTEL_EXPORTER_OTLP_CERTIFICATE"), "{troubles:?}");
}

#[test]
fn connection_whose_peer_takes_nothing_ends_with_its_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let (began, beginnings) = channel();
    let (release, released) = channel::<()>();
    let (read, fates) = channel();
    let first = Mutex::new(Some((released, read)));
    let server = ScriptedUpstream::start(&[b"http/1.1"], move |stream| {
        let first = first.lock().unwrap().take();
        began.send(()).map_err(io::Error::other)?;
        let Some((released, read)) = first else { return Ok(()) };
        released.recv().map_err(io::Error::other)?;
        let head = read_head(stream)?.unwrap_or_default();
        let length = length(&head);
        let body = io::copy(&mut stream.take(length), &mut io::sink());
        read.send((body.unwrap_or_default(), length)).map_err(io::Error::other)
    });
    let server = server.unwrap();
    let authority = folder.path().join("ca.pem");
    std::fs::write(&authority, server.ca_pem()).unwrap();
    let trust = ("OTEL_EXPORTER_OTLP_CERTIFICATE", authority.to_str().unwrap());
    let url = format!("https://{}", server.address());
    let mut sink = exporting(&url, &[trust, ("OTEL_EXPORTER_OTLP_TIMEOUT", "300")], bounds());
    // More than sockets hold.
    sink.event(&Event::ConnectFailed { at: Timestamp::default(), why: "x".repeat(6_000_000) }).unwrap();
    // The second connection begins when the first attempt is given up.
    (0..2).for_each(|_| beginnings.recv().unwrap());
    release.send(()).unwrap();
    let (body, length) = fates.recv().unwrap();
    assert!(length > 6_000_000 && body < length, "{body} bytes of {length}");
}

#[test]
fn export_that_is_given_up_counts_its_queue_without_waiting() {
    let receiver = OtlpReceiver::start(0, [OtlpReply::Silence]).unwrap();
    let mut sink = exporting(&receiver.url(), &[NO_TIME_LIMIT], bounds());
    emit(&mut sink, 0);
    receiver.wait_until(|received| !received.is_empty()).unwrap();
    (1..5).for_each(|number| emit(&mut sink, number));
    assert_eq!((sink.give_up(), sink.take_undelivered()), (5, 0));
}

fn exporting(url: &str, variables: &[(&str, &str)], bounds: Bounds) -> OtlpSink {
    let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
    // Without an Observer, there are no metrics.
    let reader = MetricsReader::new(SeriesReader::begin(&[]).0, TapWord::Replay);
    OtlpSink::start(Settings::without_spans(Some(url), variable).unwrap(), reader, bounds).unwrap()
}

/// The length of a request's body.
fn length(head: &str) -> u64 {
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    length.unwrap_or_default()
}

/// Time enough at the end, however busy the machine is.
fn bounds() -> Bounds {
    Bounds { flush: Duration::from_mins(2), ..Bounds::default() }
}

fn emit(sink: &mut OtlpSink, number: u64) {
    let event = Event::ConnectFailed { at: Timestamp::from_nanos(number), why: format!("failure {number}") };
    sink.event(&event).unwrap();
}

/// The numbers of the emitted events.
fn numbers(records: &[LogRecord]) -> Vec<u64> {
    records.iter().map(|record| record.time_unix_nano).collect()
}
