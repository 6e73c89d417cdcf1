//! Clients that send too much, too slowly or nothing: the next client is served all the same.

use std::io::{ErrorKind, Read, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use observer_tests::{ClientStream, WebhookProcess, read_head};
use serde_json::json;

use super::reviews::{answer, exchange, head, review};

/// `webhook.resources.limits.memory` of the chart.
const LIMIT_OF_THE_CHART: u64 = 128 << 20;

/// A longer wait for the end of a connection means that it does not end.
const CLOSED_WITHIN: Duration = Duration::from_secs(20);

#[test]
fn body_that_is_too_large_is_refused() {
    let webhook = WebhookProcess::start().unwrap();
    // Its announced length suffices.
    let mut stream = webhook.connect().unwrap();
    stream.write_all(head(4 << 20).as_bytes()).unwrap();
    let (found, body) = answer(&mut stream);
    assert!(found.starts_with("http/1.1 413") && found.contains("connection: close"), "{found}");
    assert_eq!(String::from_utf8(body).unwrap(), "the body is larger than 3 MiB\n");
    // A length may also be unknown.
    let mut stream = webhook.connect().unwrap();
    stream.write_all(b"POST /mutate HTTP/1.1\r\nHost: webhook\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    // The server may close before the last chunk, and a reset may overtake its answer.
    let _sent = (0..5).try_for_each(|_| stream.write_all(chunk.as_bytes()));
    assert!(matches!(status(&mut stream).as_str(), "413" | "cut"));
    assert_eq!(webhook.scraper().scrape().unwrap().count("watchtap_webhook_admissions_total", "malformed").unwrap(), 2);
    assert_serves(&webhook);
}

#[test]
fn large_pod_is_admitted() {
    let webhook = WebhookProcess::start().unwrap();
    let mut large = review("1", &json!({}));
    large["request"]["object"]["spec"]["containers"][0]["args"] = json!(["x".repeat(2 << 20)]);
    let (head, answer) = exchange(&mut webhook.connect().unwrap(), &large);
    assert!(head.starts_with("http/1.1 200") && answer["response"]["patch"].is_string(), "{head}");
}

#[test]
fn body_that_does_not_arrive_is_given_up() {
    let webhook = WebhookProcess::start().unwrap();
    let mut slow = webhook.connect().unwrap();
    slow.write_all((head(1000) + "{").as_bytes()).unwrap();
    assert_serves(&webhook);
    let (found, body) = answer(&mut slow);
    assert!(found.starts_with("http/1.1 408") && found.contains("connection: close"), "{found}");
    assert_eq!(String::from_utf8(body).unwrap(), "the body did not arrive within 5 s\n");
    assert_eq!(webhook.scraper().scrape().unwrap().count("watchtap_webhook_admissions_total", "malformed").unwrap(), 1);
}

#[test]
fn bodies_together_take_a_bounded_memory() {
    let webhook = WebhookProcess::start().unwrap();
    let before = webhook.usage().unwrap().resident;
    let body = " ".repeat((3 << 20) - 100);
    let mut held: Vec<ClientStream> = (0..20).map(|_| webhook.connect().unwrap()).collect();
    for stream in &mut held {
        // A client that got no room is answered before it has sent everything.
        let _sent = stream.write_all((head(3 << 20) + &body).as_bytes()).and_then(|()| stream.flush());
    }
    let after = webhook.usage().unwrap().resident;
    // The first ones may have run out of time before the last ones arrive, and leave their room to these.
    let statuses: Vec<String> = held.iter_mut().map(status).collect();
    assert!(statuses.iter().all(|status| ["408", "503", "cut"].contains(&status.as_str())), "{statuses:?}");
    assert!(after.saturating_sub(before) < 64 << 20, "{before} {after}");
    assert_serves(&webhook);
}

/// Small maps take much more memory than their text.
#[test]
fn reviews_together_take_a_bounded_memory() {
    let webhook = WebhookProcess::start().unwrap();
    let chain = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let many = format!("[{}]", vec![chain(100); 900].join(","));
    let body = |count: usize| {
        let mut large = review("1", &json!({}));
        large["request"]["object"]["spec"]["more"] = json!(["PLACE"]);
        large.to_string().replace("\"PLACE\"", &vec![many.clone(); count].join(","))
    };
    let (largest, too_large) = (body(1), body(2));
    thread::scope(|scope| {
        for mut stream in (0..8).map(|_| webhook.connect().unwrap()) {
            let largest = &largest;
            scope.spawn(move || {
                for _ in 0..5 {
                    stream.write_all((head(largest.len()) + largest).as_bytes()).unwrap();
                    let (found, _) = answer(&mut stream);
                    // On a busy machine, the others may take longer than one may wait for them.
                    assert!(found.starts_with("http/1.1 200") || found.starts_with("http/1.1 503"), "{found}");
                }
            });
        }
    });
    let usage = webhook.usage().unwrap();
    // The kernel takes pages of the program's file back before it kills. A debug build has many of them.
    let of_files = usage.resident.saturating_sub(usage.anonymous);
    assert!(usage.peak.saturating_sub(of_files) < LIMIT_OF_THE_CHART, "{usage:?}");
    let (found, reason) = answer(&mut sent(&webhook, &too_large));
    assert!(found.starts_with("http/1.1 400"), "{found}");
    assert_eq!(String::from_utf8(reason).unwrap(), "the body has more than 100000 values\n");
    assert_serves(&webhook);
}

fn sent(webhook: &WebhookProcess, body: &str) -> ClientStream {
    let mut stream = webhook.connect().unwrap();
    stream.write_all((head(body.len()) + body).as_bytes()).unwrap();
    stream
}

#[test]
fn many_connections_do_not_keep_another_one_out() {
    let webhook = WebhookProcess::start().unwrap();
    let mut kept = webhook.connect().unwrap();
    exchange(&mut kept, &review("1", &json!({})));
    let mut silent: Vec<TcpStream> = Vec::new();
    let mut idle: Vec<ClientStream> = Vec::new();
    for _ in 0..150 {
        silent.push(TcpStream::connect(webhook.address()).unwrap());
        idle.push(webhook.connect().unwrap());
        assert!(webhook.usage().unwrap().descriptors < 300);
    }
    assert_serves(&webhook);
    let page = webhook.scraper().scrape().unwrap();
    assert!(page.count("watchtap_webhook_closed_connections_total", "no_room").unwrap() >= 150, "{}", page.text());
    // The oldest ones were closed, but not the one that the API server uses.
    silent[0].set_read_timeout(Some(CLOSED_WITHIN)).unwrap();
    idle[0].sock.set_read_timeout(Some(CLOSED_WITHIN)).unwrap();
    assert_closed(&mut silent[0]);
    assert_closed(&mut idle[0]);
    let (found, _) = exchange(&mut kept, &review("2", &json!({})));
    assert!(found.starts_with("http/1.1 200"), "{found}");
}

/// A read that runs out of time is no end.
#[track_caller]
fn assert_closed(stream: &mut impl Read) {
    match stream.read(&mut [0]) {
        Ok(0) => {}
        Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof) => {}
        other => panic!("not closed: {other:?}"),
    }
}

#[test]
fn client_without_tls_is_closed_and_counted() {
    let webhook = WebhookProcess::start().unwrap();
    let mut plain = TcpStream::connect(webhook.address()).unwrap();
    plain.write_all(b"GET /mutate HTTP/1.1\r\nHost: webhook\r\n\r\n").unwrap();
    let mut rest = Vec::new();
    plain.read_to_end(&mut rest).ok();
    assert!(!rest.starts_with(b"HTTP"), "{rest:?}");
    assert_eq!(webhook.scraper().scrape().unwrap().count("watchtap_webhook_closed_connections_total", "handshake").unwrap(), 1);
    assert_serves(&webhook);
}

#[test]
fn head_that_is_too_large_is_refused() {
    let webhook = WebhookProcess::start().unwrap();
    for (fields, may_be_cut) in [(format!("A: {}\r\n", "a".repeat(100 << 10)), true), ("A: a\r\n".repeat(100), false)] {
        let mut stream = webhook.connect().unwrap();
        let _sent = stream.write_all(format!("POST /mutate HTTP/1.1\r\nHost: webhook\r\n{fields}\r\n").as_bytes());
        let mut found = Vec::new();
        stream.read_to_end(&mut found).ok();
        // A close before everything is read makes the kernel send RST, which may overtake the answer.
        let is_cut = may_be_cut && found.is_empty();
        assert!(is_cut || found.starts_with(b"HTTP/1.1 431"), "{}", String::from_utf8_lossy(&found));
    }
    assert_serves(&webhook);
}

/// The status of an answer; `cut` if the connection ended before it.
fn status(stream: &mut ClientStream) -> String {
    let head = read_head(stream).ok().flatten();
    head.and_then(|head| head.split(' ').nth(1).map(str::to_owned)).unwrap_or_else(|| "cut".to_owned())
}

#[track_caller]
fn assert_serves(webhook: &WebhookProcess) {
    let (head, answer) = exchange(&mut webhook.connect().unwrap(), &review("1", &json!({})));
    assert!(head.starts_with("http/1.1 200") && answer["response"]["patch"].is_string(), "{head}");
}
