//! SIGTERM: requests are still answered, so that no pod of a rollout misses its sidecar.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use observer_tests::WebhookProcess;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::reviews::{answer, exchange, head, review};

/// The webhook, after SIGTERM. The time of grace leaves room for one exchange on a busy machine, so each test has one.
fn stop(webhook: &WebhookProcess) {
    webhook.signal(Signal::TERM).unwrap();
    webhook.await_line("stopping: requests are answered for 5 s more").unwrap();
}

#[track_caller]
fn assert_last_answer(head: &str, answer: &Value) {
    assert!(head.contains("connection: close") && answer["response"]["patch"].is_string(), "{head}");
}

#[test]
fn readiness_ends_first_and_the_port_in_the_end() {
    let mut webhook = WebhookProcess::start().unwrap();
    stop(&webhook);
    let ready = webhook.scraper().get("/ready", "").unwrap();
    assert_eq!((ready.status, ready.text().as_str()), (503, "watchtap is shutting down\n"));
    webhook.wait().unwrap();
    assert!(TcpStream::connect(webhook.address()).is_err());
}

#[test]
fn kept_connection_is_answered_after_sigterm() {
    let mut webhook = WebhookProcess::start().unwrap();
    let mut kept = webhook.connect().unwrap();
    exchange(&mut kept, &review("1", &json!({})));
    stop(&webhook);
    let (head, answer) = exchange(&mut kept, &review("2", &json!({})));
    assert_last_answer(&head, &answer);
    webhook.wait().unwrap();
}

#[test]
fn new_connection_is_answered_after_sigterm() {
    let mut webhook = WebhookProcess::start().unwrap();
    stop(&webhook);
    let (head, answer) = exchange(&mut webhook.connect().unwrap(), &review("1", &json!({})));
    assert_last_answer(&head, &answer);
    webhook.wait().unwrap();
}

#[test]
fn request_in_the_middle_is_answered_after_sigterm() {
    let mut webhook = WebhookProcess::start().unwrap();
    let mut halved = webhook.connect().unwrap();
    let body = review("1", &json!({})).to_string();
    let (first, second) = body.split_at(100);
    halved.write_all((head(body.len()) + first).as_bytes()).unwrap();
    halved.flush().unwrap();
    stop(&webhook);
    halved.write_all(second.as_bytes()).unwrap();
    let (head, body) = answer(&mut halved);
    assert_last_answer(&head, &serde_json::from_slice(&body).unwrap());
    webhook.wait().unwrap();
}

#[test]
fn second_signal_stops_at_once() {
    let mut webhook = WebhookProcess::start().unwrap();
    let mut halved = webhook.connect().unwrap();
    halved.write_all((head(1000) + "{").as_bytes()).unwrap();
    webhook.signal(Signal::TERM).unwrap();
    webhook.await_line("stopping").unwrap();
    webhook.signal(Signal::TERM).unwrap();
    webhook.wait().unwrap();
    // After the time of grace, it would have been answered that it is too slow.
    let mut rest = Vec::new();
    halved.read_to_end(&mut rest).ok();
    assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
}
