//! Observations of audit logs.

use super::LogReplay;
use crate::logs::{Envelope, LogClock, LogExtent};
use crate::observation::{ConnectionObservation, ExchangeEnd, ExchangeObservation, Observation, Subject};
use crate::routing::RecordedRead;

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

/// The observations of a log with these lines.
pub(in crate::logs) fn replayed(lines: &[String]) -> (Vec<Observation>, LogExtent) {
    replayed_within(usize::MAX, lines)
}

/// The same through a window of so many records.
fn replayed_within(records: usize, lines: &[String]) -> (Vec<Observation>, LogExtent) {
    let (mut replay, mut observations) = (LogReplay::within(records, usize::MAX), Vec::new());
    for line in lines {
        replay.line(0, line.as_bytes(), &mut |observation| observations.push(observation));
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

#[test]
fn long_watch_is_not_late() {
    let mut lines = vec![event(("ResponseStarted", "a", 1, 1), "watch", WATCH, "u", 200)];
    lines.extend(
        (2..40).map(|second| event(("ResponseComplete", &second.to_string(), second, second), "list", "/api/v1/pods", "v", 200)),
    );
    lines.push(event(("ResponseComplete", "a", 1, 61), "watch", WATCH, "u", 200));
    let (observations, extent) = replayed_within(4, &lines);
    assert_eq!(words(&observations).last().unwrap(), "61 complete 1.1");
    assert_eq!((extent.late, extent.is_complete()), (0, true));
}

#[test]
fn list_of_events_takes_no_more_room_than_the_window() {
    let items: Vec<String> = (1..9)
        .rev()
        .map(|second| event(("RequestReceived", &second.to_string(), second, second), "list", "/api/v1/pods", "u", 0))
        .collect();
    let line = format!(r#"{{"kind":"EventList","items":[{}]}}"#, items.join(","));
    let (_, extent) = replayed_within(2, &[line]);
    assert_eq!((extent.requests, extent.late), (8, 5));
}

#[test]
fn oldest_open_request_gives_way_to_a_new_one() {
    const MOST: u64 = 64 << 10;
    let received = |id: u64| event(("RequestReceived", &id.to_string(), 1, 1), "watch", WATCH, "u", 0);
    let mut lines: Vec<String> = (0..=MOST).map(received).collect();
    lines.push(event(("ResponseComplete", "0", 1, 2), "watch", WATCH, "u", 200));
    lines.push(event(("ResponseComplete", &MOST.to_string(), 1, 3), "watch", WATCH, "u", 200));
    let (observations, extent) = replayed(&lines);
    let words = words(&observations);
    let last: Vec<&str> = words.iter().rev().take(4).rev().map(String::as_str).collect();
    assert_eq!(last, ["1 cut 1.1", "1 requested 1.65537", "3 200 1.65537", "3 complete 1.65537"]);
    assert_eq!((extent.requests, extent.given_up, extent.repeated), (MOST + 1, 1, 0));
}

#[test]
fn lines_over_several_logs_and_lines_are_joined() {
    let line = |id: &str| event(("ResponseComplete", id, 1, 2), "list", "/api/v1/pods", "u", 200);
    let (first, second) = (line("a"), line("b"));
    let cri = |tag: &str, text: &str| format!("2026-11-22T02:00:00.123456789Z stdout {tag} {text}");
    let (mut replay, mut emit) = (LogReplay::default(), |_| {});
    let indented =
        format!("{{\n  \"events\": [\n    {{\n      \"ingestionTime\": 1,\n      \"message\": {first:?}\n    }}\n  ]\n}}");
    let mut lines = indented.lines();
    replay.line(0, cri("P", second.split_at(30).0).as_bytes(), &mut emit);
    for line in lines.by_ref().take(4) {
        replay.line(1, line.as_bytes(), &mut emit);
    }
    replay.line(0, cri("F", second.split_at(30).1).as_bytes(), &mut emit);
    for line in lines {
        replay.line(1, line.as_bytes(), &mut emit);
    }
    replay.line(2, cri("P", "rest").as_bytes(), &mut emit);
    replay.line(3, b"{", &mut emit);
    replay.line(3, b"\"a\": 1", &mut emit);
    replay.end_of(3);
    assert_eq!(replay.extent().not_understood, 2);
    replay.finish(&mut emit);
    let extent = replay.extent();
    assert_eq!((extent.requests, extent.not_understood), (2, 3));
    assert_eq!(extent.envelopes.into_iter().collect::<Vec<_>>(), [(Envelope::CloudWatch, 1), (Envelope::Cri, 1)]);
}

/// Events of an API server's own reflectors: what each lists or watches.
fn of_server(id: &str, second: u64, verb: &str, resource: &str, query: &str) -> String {
    let stage = if verb == "watch" { "ResponseStarted" } else { "ResponseComplete" };
    event((stage, id, second, second), verb, &format!("/api/v1/{resource}?{query}"), "system:apiserver", 200)
}

/// The resources that the own reflectors of an API server watch before it is killed.
const OWN: [&str; 3] = ["secrets", "services", "namespaces"];

/// The watches of the own reflectors and of a client, which are open when the API server is killed.
fn open_watches() -> Vec<String> {
    let own = OWN.iter().map(|resource| of_server(resource, 1, "watch", resource, "watch=true&resourceVersion=7"));
    own.chain([event(("ResponseStarted", "w", 1, 1), "watch", WATCH, "u", 200)]).collect()
}

/// A list with which an own reflector begins from nothing.
fn again(resource: &str, second: u64) -> String {
    of_server(&format!("{resource}-again"), second, "list", resource, "limit=500&resourceVersion=0")
}

/// The end of the watch of an own reflector.
fn own_end(resource: &str, second: u64) -> String {
    let uri = format!("/api/v1/{resource}?watch=true&resourceVersion=7");
    event(("ResponseComplete", resource, 1, second), "watch", &uri, "system:apiserver", 200)
}

/// Number of restarts, and the requests that are cut, in a log that continues so.
fn restarts(after: &[String]) -> (u64, Vec<String>) {
    let (observations, extent) = replayed(&[&open_watches(), after].concat());
    (extent.restarts, words(&observations).into_iter().filter(|word| word.contains(" cut ")).collect())
}

#[test]
fn killed_server_ends_the_requests_in_its_log() {
    // Clients are sooner than the reflectors of the server.
    let list = event(("ResponseComplete", "l", 9, 9), "list", "/api/v1/pods?limit=500&resourceVersion=0", "u", 200);
    let before = [open_watches(), vec![list]].concat();
    let lines = [before.clone(), OWN.map(|resource| again(resource, 9)).to_vec()].concat();
    let (observations, extent) = replayed(&lines);
    assert_eq!(extent.restarts, 1);
    let words = words(&observations);
    let place = |of: &str| words.iter().position(|word| word == of);
    assert!(place("9 cut 2.1").is_some_and(|cut| place("9 requested 2.2").is_some_and(|list| cut < list)), "{words:?}");
    let own = OWN.map(|resource| of_server(&format!("{resource}-again"), 9, "list", resource, "resourceVersion=7"));
    assert_eq!(replayed(&[before, own.to_vec()].concat()).1.restarts, 0, "a lost watch alone is no restart");
    let ended = [lines, OWN.map(|resource| own_end(resource, 9)).to_vec()].concat();
    assert_eq!(replayed(&ended).1.restarts, 0, "a server that was killed logs no end");
}

#[test]
fn server_is_killed_in_the_last_of_several_silences() {
    let slow = event(("ResponseComplete", "s", 5, 7), "update", "/api/v1/namespaces/x/pods/y", "u", 200);
    let after = [vec![slow], OWN.map(|resource| again(resource, 9)).to_vec()].concat();
    assert_eq!(restarts(&after), (1, vec!["9 cut 2.1".to_owned()]));
}

#[test]
fn pauses_after_a_restart_do_not_hide_what_it_was() {
    let [first, second, third] = OWN;
    let slowly = [again(first, 9), again(second, 10), again(third, 12)];
    assert_eq!(restarts(&slowly), (1, vec!["9 cut 2.1".to_owned()]), "the reflectors come one after the other");
    let returned = event(("ResponseStarted", "w2", 9, 9), "watch", WATCH, "u", 200);
    let late = [vec![returned], OWN.map(|resource| again(resource, 11)).to_vec()].concat();
    assert_eq!(restarts(&late), (1, vec!["9 cut 2.1".to_owned()]), "a client comes back before the reflectors");
    let ended = [OWN.map(|resource| again(resource, 9)), OWN.map(|resource| own_end(resource, 11))].concat();
    assert_eq!(restarts(&ended).0, 0, "a later line shows that the server lived on");
}

#[test]
fn list_at_its_own_revision_ends_the_watch_of_a_reflector() {
    let watch = event(("ResponseStarted", "w", 1, 1), "watch", WATCH, "u", 200);
    for (query, is_cut) in [("resourceVersion=6", true), ("resourceVersion=0", false), ("resourceVersion=6&limit=5", false)] {
        let list = event(("ResponseComplete", "l", 9, 9), "list", &format!("/api/v1/pods?{query}"), "u", 200);
        let (observations, _) = replayed(&[watch.clone(), list]);
        assert_eq!(words(&observations).contains(&"9 cut 1.1".to_owned()), is_cut, "{query}");
    }
}

#[test]
fn request_in_two_logs_counts_once_and_a_trace_shows_its_layer() {
    let time = "1122 02:00:0";
    let list = event(("ResponseComplete", "a", 3, 5), "list", "/api/v1/pods", "u", 200);
    let httplog = format!(
        r#"I{time}5.100000       1 httplog.go:132] "HTTP" verb="LIST" URI="/api/v1/pods" latency="2.05s" userAgent="controller/1" audit-ID="a" srcIP="10.0.0.1:4" resp=200"#
    );
    let trace = [
        format!(
            r#"I{time}4.900000       1 trace.go:236] Trace[7]: "List" accept:,audit-id:a,resource:pods,verb:LIST (22-Nov-2026 02:00:03.000) (total time: 1900ms):"#
        ),
        r#"Trace[7]: ["List(recursive=true) etcd3" audit-id:a,key:/pods,resourceVersion:,limit:0 1800ms (02:00:03.100)]"#
            .to_owned(),
        "Trace[7]: [1.9s] [1.9s] END".to_owned(),
    ];
    let (mut replay, mut observations) = (LogReplay::default(), Vec::new());
    replay.begin(1, LogClock::of_year(2026, 0));
    replay.line(0, list.as_bytes(), &mut |observation| observations.push(observation));
    for line in trace.iter().chain([&httplog]) {
        replay.line(1, line.as_bytes(), &mut |observation| observations.push(observation));
    }
    replay.finish(&mut |observation| observations.push(observation));
    let extent = replay.extent();
    assert_eq!((extent.requests, extent.not_understood), (1, 0));
    assert_eq!(reads(&observations), [RecordedRead::EtcdList]);
}

/// The line of etcd about a read of this prefix from second 3 on, with this limit.
fn etcd_read(prefix: &str, limit: u64) -> String {
    let limit = if limit > 0 { format!(" limit:{limit}") } else { String::new() };
    format!(
        r#"{{"level":"warn","ts":"2026-11-22T02:00:04.9Z","msg":"request stats","start time":"2026-11-22T02:00:03.1Z","time spent":"1.8s","remote":"127.0.0.1:1","response type":"/etcdserverpb.KV/Range","request count":0,"response count":9,"response size":900,"request content":"key:\"{prefix}/\" range_end:\"{prefix}0\"{limit} "}}"#
    )
}

#[test]
fn read_that_etcd_logged_shows_the_layer_of_the_only_list_of_its_keys() {
    let list = |id: &str, uri: &str| event(("ResponseComplete", id, 3, 5), "list", uri, "u", 200);
    let all = "/api/v1/pods";
    let rows: [(&[String], String, bool); 6] = [
        (&[list("a", all)], etcd_read("/registry/pods", 0), true),
        (&[list("a", all)], etcd_read("/registry/pods", 10_000), false),
        (&[list("a", all)], etcd_read("/registry/podtemplates", 0), false),
        (&[list("a", "/api/v1/namespaces/x/pods?limit=5")], etcd_read("/registry/pods/x", 5), true),
        (&[list("a", all), list("b", all)], etcd_read("/registry/pods", 0), false),
        (&[event(("ResponseComplete", "a", 4, 5), "list", all, "u", 200)], etcd_read("/registry/pods", 0), false),
    ];
    for (lists, read, expected) in rows {
        let (mut replay, mut observations) = (LogReplay::default(), Vec::new());
        let mut take = |observation| observations.push(observation);
        for list in lists {
            replay.line(0, list.as_bytes(), &mut take);
        }
        replay.line(1, read.as_bytes(), &mut take);
        replay.finish(&mut take);
        assert_eq!(reads(&observations), if expected { &[RecordedRead::EtcdRead][..] } else { &[] }, "{lists:?} {read}");
    }
}

/// The layers that the logs show.
fn reads(observations: &[Observation]) -> Vec<RecordedRead> {
    let recorded = observations.iter().filter_map(|observation| {
        if let Subject::Exchange(_, ExchangeObservation::Recorded { read }) = &observation.subject { Some(*read) } else { None }
    });
    recorded.collect()
}

#[test]
fn client_log_has_its_requests() {
    let line =
        "I1122 02:00:01.000000   77 round_trippers.go:553] GET https://h:6443/api/v1/pods?limit=500 200 OK in 8 milliseconds";
    let (observations, extent) = replayed(&[line.to_owned(), "Response Headers:".to_owned()]);
    assert_eq!((extent.requests, extent.forms.get("client request")), (1, Some(&1)));
    assert_eq!(observations.len(), 4);
}

#[test]
fn requests_with_one_audit_id_are_distinguished() {
    let watch = |stage, at, code| event((stage, "x", 1, at), "watch", WATCH, "u", code);
    let list = |stage, at, code, user| event((stage, "x", 3, at), "list", "/api/v1/secrets", user, code);
    for user in ["u", "other"] {
        let lines = [
            watch("RequestReceived", 1, 0),
            watch("ResponseStarted", 2, 200),
            list("RequestReceived", 3, 0, user),
            list("ResponseComplete", 4, 200, user),
            watch("ResponseComplete", 61, 200),
        ];
        for lines in [&lines[..], &[lines[1].clone(), lines[3].clone(), lines[4].clone()]] {
            let (observations, extent) = replayed(lines);
            assert_eq!((extent.requests, extent.same_ids, extent.repeated), (2, 1, 0), "{user}");
            let words = words(&observations);
            let ends = words.iter().filter(|word| word.contains("complete")).count();
            assert!(ends == 2 && words.last().is_some_and(|last| last == "61 complete 1.1"), "{words:?}");
        }
    }
    // The impersonated user is known after the first stage.
    let received = list("RequestReceived", 3, 0, "admin");
    let (_, extent) = replayed(&[received, list("ResponseComplete", 4, 200, "impersonated")]);
    assert_eq!((extent.requests, extent.same_ids), (1, 0));
    let of_both = observed_ids(&replayed(&[watch("ResponseStarted", 2, 200), list("ResponseComplete", 4, 200, "u")]).0);
    assert_eq!(of_both, ["x", "x"], "their answers have the ID that the log states");
}

/// The audit IDs of all answers.
fn observed_ids(observations: &[Observation]) -> Vec<String> {
    let ids = observations.iter().filter_map(|observation| {
        let Subject::Exchange(_, ExchangeObservation::Responded { response }) = &observation.subject else { return None };
        response.audit_id.clone()
    });
    ids.collect()
}

#[test]
fn trace_with_the_audit_id_of_two_requests_shows_no_layer() {
    let first = event(("RequestReceived", "x", 1, 1), "list", "/api/v1/pods", "u", 0);
    let second = event(("RequestReceived", "x", 1, 1), "list", "/api/v1/secrets", "u", 0);
    let trace = [
        r#"I1122 02:00:03.000000       1 trace.go:236] Trace[5]: "List" audit-id:x,url:/api/v1/pods,verb:LIST (22-Nov-2026 02:00:01.000) (total time: 2000ms):"#,
        r#"Trace[5]: ["List(recursive=true) etcd3" audit-id:x,key:/pods,resourceVersion:,resourceVersionMatch:,limit:0,continue: 1990ms (02:00:01.005)]"#,
        "Trace[5]: [2s] [2s] END",
    ];
    let trace = trace.map(str::to_owned);
    let of = |events: &[String]| {
        let (mut replay, mut observations) = (LogReplay::default(), Vec::new());
        replay.begin(0, LogClock::of_year(2026, 0));
        let mut take = |observation| observations.push(observation);
        for line in events.iter().chain(&trace) {
            replay.line(0, line.as_bytes(), &mut take);
        }
        replay.finish(&mut take);
        reads(&observations).len()
    };
    assert_eq!((of(std::slice::from_ref(&first)), of(&[first, second])), (1, 0));
}

#[test]
fn log_that_is_read_twice_is_no_other_server() {
    let lines = [open_watches(), OWN.map(|resource| again(resource, 9)).to_vec()].concat();
    let (mut replay, mut observations) = (LogReplay::default(), Vec::new());
    let mut take = |observation| observations.push(observation);
    for line in &lines {
        for log in [0, 1] {
            replay.line(log, line.as_bytes(), &mut take);
        }
    }
    replay.finish(&mut take);
    let refused = observations.iter().filter(|observation| matches!(observation.subject, Subject::Upstream(..))).count();
    let extent = replay.extent();
    assert_eq!((extent.restarts, extent.repeated, refused), (1, lines.len() as u64, 2));
}

#[test]
fn restart_ends_the_requests_of_earlier_parts_of_a_log() {
    let (mut replay, mut observations) = (LogReplay::default(), Vec::new());
    let mut take = |observation| observations.push(observation);
    for line in open_watches() {
        replay.line(1, line.as_bytes(), &mut take);
    }
    replay.end_of(1);
    // The first record of the later part comes before the server was killed.
    let before = event(("ResponseComplete", "g", 2, 2), "get", "/api/v1/namespaces/a/pods/b", "u", 200);
    for line in [vec![before], OWN.map(|resource| again(resource, 9)).to_vec()].concat() {
        replay.line(0, line.as_bytes(), &mut take);
    }
    replay.finish(&mut take);
    assert!(words(&observations).contains(&"9 cut 2.1".to_owned()), "{:?}", words(&observations));
}

#[test]
fn watch_logged_as_it_opens_has_no_end() {
    let line = r#"I1122 02:00:01.000000       1 httplog.go:132] "HTTP" verb="WATCH" URI="/api/v1/pods?watch=true" latency="470.891µs" userAgent="a/1" audit-ID="a" srcIP="10.0.0.1:443" resp=0"#;
    let (_, extent) = replayed(&[line.to_owned()]);
    assert_eq!((extent.requests, extent.without_end), (1, 1));
}

#[test]
fn versions_of_api_servers_are_those_that_they_state() {
    let mut extent = LogExtent::default();
    for agent in [
        "kube-apiserver/v1.34.4 (linux/amd64) kubernetes/8cc511e",
        "kube-apiserver-v1.31.14/v0.0.0 (linux/amd64)",
        "curl/7.88.1",
        "kube-apiserver/v1.x.y",
        "",
    ] {
        extent.note_server(agent);
    }
    assert_eq!(extent.server_versions.into_iter().collect::<Vec<_>>(), ["1.31.14", "1.34.4"]);
}

#[test]
fn request_and_answer_of_a_client_may_have_two_lines() {
    let lines = [
        "I1122 02:00:01.000000   77 round_trippers.go:463] GET https://h:6443/api/v1/pods?limit=500",
        "I1122 02:00:01.000001   77 round_trippers.go:469] Request Headers:",
        "I1122 02:00:01.008000   77 round_trippers.go:574] Response Status: 200 OK in 8 milliseconds",
    ];
    let lines = lines.map(str::to_owned);
    assert_eq!(replayed(&lines).1.requests, 1);
    let (_, extent) = replayed(&[lines[0].clone(), lines[0].clone(), lines[2].clone()]);
    assert_eq!((extent.requests, extent.unpaired, extent.is_complete()), (0, 1, false));
}
