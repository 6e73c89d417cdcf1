//! Observations of audit logs, and what an Observer makes of them.

use super::{LogExtent, LogReplay};
use crate::observation::{ConnectionObservation, ExchangeEnd, ExchangeObservation, Observation, Subject};

/// An event: stage, audit ID, second of receipt, second of the stage, verb, URI, user and status.
fn event((stage, id, received, reached): (&str, &str, u64, u64), verb: &str, uri: &str, user: &str, code: u16) -> String {
    let time = |second: u64| format!("2026-11-22T02:{:02}:{:02}.000000Z", second / 60, second % 60);
    format!(
        r#"{{"level":"Metadata","auditID":"{id}","stage":"{stage}","requestURI":"{uri}","verb":"{verb}","user":{{"username":"{user}"}},
            "sourceIPs":["10.0.0.1"],"userAgent":"controller/1","responseStatus":{{"code":{code}}},
            "requestReceivedTimestamp":"{}","stageTimestamp":"{}"}}"#,
        time(received),
        time(reached)
    )
    .replace('\n', "")
}

fn replayed(lines: &[String]) -> (Vec<Observation>, LogExtent) {
    let (mut replay, mut observations) = (LogReplay::default(), Vec::new());
    for line in lines {
        replay.line(line.as_bytes(), &mut |observation| observations.push(observation));
    }
    replay.finish(&mut |observation| observations.push(observation));
    (observations, replay.extent())
}

/// The observations in a word each, with their second.
fn words(observations: &[Observation]) -> Vec<String> {
    let word = |subject: &Subject| match subject {
        Subject::Connection(id, ConnectionObservation::Opened { .. }) => format!("opened {id}"),
        Subject::Exchange(id, ExchangeObservation::Requested { .. }) => format!("requested {}.{}", id.connection, id.stream.0),
        Subject::Exchange(id, ExchangeObservation::Responded { response }) => {
            format!("{} {}.{}", response.status.unwrap_or(0), id.connection, id.stream.0)
        }
        Subject::Exchange(id, ExchangeObservation::Ended { end }) => {
            let end = if *end == ExchangeEnd::Complete { "complete" } else { "cut" };
            format!("{end} {}.{}", id.connection, id.stream.0)
        }
        Subject::Connection(..)
        | Subject::Exchange(..)
        | Subject::Upstream(..)
        | Subject::Tap(_)
        | Subject::Capture(_)
        | Subject::Run(_)
        | Subject::Unknown => format!("{subject:?}"),
    };
    let second = |observation: &Observation| observation.at.as_nanos() / 1_000_000_000 % 3_600;
    observations.iter().map(|observation| format!("{} {}", second(observation), word(&observation.subject))).collect()
}

const WATCH: &str = "/api/v1/pods?watch=true&resourceVersion=5&timeoutSeconds=60";

#[test]
fn stages_of_a_request_give_the_observations_of_a_tap() {
    let lines = [
        event(("RequestReceived", "a", 1, 1), "watch", WATCH, "u", 0),
        event(("ResponseStarted", "a", 1, 2), "watch", WATCH, "u", 200),
        event(("RequestReceived", "b", 3, 3), "list", "/api/v1/pods", "u", 0),
        event(("ResponseComplete", "b", 3, 4), "list", "/api/v1/pods", "u", 200),
        event(("ResponseComplete", "a", 1, 61), "watch", WATCH, "u", 200),
    ];
    let expected =
        ["1 opened 1", "1 requested 1.1", "2 200 1.1", "3 requested 1.2", "4 200 1.2", "4 complete 1.2", "61 complete 1.1"];
    let (observations, extent) = replayed(&lines);
    assert_eq!(words(&observations), expected);
    assert_eq!((extent.events, extent.requests, extent.is_complete()), (5, 2, true));
}

#[test]
fn missing_stages_are_no_loss_of_requests() {
    let lines = [
        event(("ResponseComplete", "b", 3, 4), "list", "/api/v1/pods", "u", 200),
        event(("ResponseComplete", "a", 1, 61), "watch", WATCH, "u", 200),
        event(("ResponseStarted", "c", 62, 62), "watch", WATCH, "u", 200),
    ];
    let expected = [
        "1 opened 1",
        "1 requested 1.1",
        "3 requested 1.2",
        "4 200 1.2",
        "4 complete 1.2",
        "61 200 1.1",
        "61 complete 1.1",
        "62 requested 1.3",
        "62 200 1.3",
    ];
    assert_eq!(words(&replayed(&lines).0), expected);
}

#[test]
fn repeated_events_count_once() {
    let lines = [
        event(("RequestReceived", "b", 3, 3), "list", "/api/v1/pods", "u", 0),
        event(("ResponseComplete", "b", 3, 4), "list", "/api/v1/pods", "u", 200),
    ];
    let twice = [lines.as_slice(), lines.as_slice()].concat();
    let (observations, extent) = replayed(&twice);
    assert_eq!(words(&observations), words(&replayed(&lines).0));
    assert_eq!((extent.requests, extent.repeated), (1, 2));
}

#[test]
fn clients_differ_by_user_agent_and_address() {
    let list = |id: &str, user: &str| event(("ResponseComplete", id, 3, 4), "list", "/api/v1/pods", user, 200);
    let lines = [list("a", "u"), list("b", "v"), list("c", "u").replace("10.0.0.1", "10.0.0.2"), list("d", "u")];
    let opened = words(&replayed(&lines).0).iter().filter(|word| word.contains("opened")).count();
    assert_eq!(opened, 3);
}

#[test]
fn answer_is_cut_if_the_server_panicked() {
    for (stage, expected) in [("ResponseComplete", "2 complete 1.1"), ("Panic", "2 cut 1.1")] {
        let line = event((stage, "a", 1, 2), "list", "/api/v1/pods", "u", 500);
        assert_eq!(words(&replayed(&[line]).0).pop().unwrap(), expected);
    }
}

#[test]
fn lines_that_are_no_events_are_counted() {
    let line = event(("ResponseComplete", "a", 1, 2), "list", "/api/v1/pods", "u", 200);
    let torn = line[..line.len() / 2].to_owned();
    let (observations, extent) = replayed(&[String::new(), torn, "I1122 02:00:00.1 1 x.go:1] text".to_owned(), line]);
    assert_eq!(words(&observations).len(), 4);
    assert_eq!((extent.not_understood, extent.events, extent.is_complete()), (2, 1, false));
}
