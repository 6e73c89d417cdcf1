//! Causes of relists and layers of answers that follow from the events of an audit log.

use std::fmt::Write as _;

use observer_core::logs::{LogClock, LogReplay};
use observer_core::observation::{Observation, Subject, UpstreamName, UpstreamObservation};
use observer_core::observer::{Event, Limits, Observer};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;

/// A request in a log: its times in milliseconds, verb, query, status, and the rest of the event.
type Logged<'l> = ((u64, u64), &'l str, &'l str, u16, &'l str);

/// The version of the API server.
const VERSION: &str = "v1.34.4";
const LIST: Logged<'_> = ((0, 20), "list", "limit=500&resourceVersion=0", 200, "");
const WATCH: &str = "allowWatchBookmarks=true&resourceVersion=100&timeoutSeconds=400&watch=true";
const WITHOUT_BOOKMARKS: &str = "resourceVersion=100&timeoutSeconds=400&watch=true";
const STREAM: &str =
    "allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=400&watch=true";
const STREAM_AT_LAST: &str = "allowWatchBookmarks=true&resourceVersion=100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=400&watch=true";
const AT_LAST: &str = "resourceVersion=100";

/// The causes of relists, and the proofs of verdicts, that an observer finds in the lines of these requests of one client.
fn observed(requests: &[Logged<'_>]) -> String {
    let lines: Vec<String> = requests.iter().enumerate().map(|(number, request)| line(number, request)).collect();
    observed_in(&lines)
}

/// The same in these lines, with the triggers of storms.
fn observed_in(lines: &[String]) -> String {
    let (mut replay, mut observer, mut words) = (LogReplay::default(), Observer::new(Limits::default()), Vec::new());
    let mut take = |observation| {
        observer.observe(observation, &mut |event| {
            if let Event::RelistBegan { began } = &event {
                words.push(began.cause.to_string());
            } else if let Event::StormBegan { record } = &event {
                words.push(format!("storm {:?}", record.trigger));
            }
            if let Event::Request { record } = event {
                words.extend(record.verdict.and_then(|verdict| verdict.proof).map(|proof| proof.to_string()));
            }
        });
    };
    replay.begin(1, LogClock::of_year(2026, 0));
    let profile = Box::new(ServerProfile::of_version(VERSION.parse().unwrap(), Basis::Flag));
    let subject = Subject::Upstream(UpstreamName::default(), UpstreamObservation::Profile { profile });
    take(Observation { at: Timestamp::default(), subject });
    for line in lines {
        // Lines of klog are in a log of their own.
        replay.line(usize::from(!line.starts_with('{')), line.as_bytes(), &mut take);
    }
    replay.finish(&mut take);
    let extent = replay.extent();
    match [extent.closed_by_force, extent.ambiguous_closes, extent.unmatched_closes] {
        [0, 0, 0] => {}
        [joined, ambiguous, unmatched] => words.push(format!("closes {joined} {ambiguous} {unmatched}")),
    }
    words.join(" ")
}

fn line(number: usize, ((asked, ended), verb, query, code, rest): &Logged<'_>) -> String {
    let time = |at: u64| format!("2026-11-22T02:{:02}:{:02}.{:03}000Z", at / 60_000, at / 1_000 % 60, at % 1_000);
    let mut line = format!(
        r#"{{"auditID":"{number}","stage":"ResponseComplete","verb":"{verb}","requestURI":"/api/v1/pods?{query}","user":{{"username":"u"}},"userAgent":"controller/1","#
    );
    write!(
        line,
        r#""responseStatus":{{"code":{code}{rest}}},"requestReceivedTimestamp":"{}","stageTimestamp":"{}"}}"#,
        time(*asked),
        time(*ended)
    )
    .unwrap();
    line
}

#[test]
fn watch_that_ended_at_once_before_a_list_at_its_revision_had_expired() {
    let watch = ((50, 400_100), "watch", WATCH, 200, "");
    let expired = ((400_200, 400_204), "watch", WATCH, 200, "");
    let relist = ((401_300, 401_400), "list", AT_LAST, 200, "");
    assert_eq!(observed(&[LIST, watch, expired, relist]), "expired/unknown");
}

#[test]
fn brief_watch_that_did_not_end_as_soon_as_it_was_answered_had_not_expired() {
    let watch = line(1, &((50, 400_100), "watch", WATCH, 200, ""));
    let brief = |answered| {
        let answer = line(2, &((400_200, answered), "watch", WATCH, 200, "")).replace("ResponseComplete", "ResponseStarted");
        let end = line(2, &((400_200, 400_260), "watch", WATCH, 200, ""));
        let relist = line(3, &((401_300, 401_400), "list", AT_LAST, 200, ""));
        observed_in(&[line(0, &LIST), watch.clone(), answer, end, relist])
    };
    assert_eq!(brief(400_250), "expired/unknown");
    assert_eq!(brief(400_205), "very-short-watch");
    let unanswered = ((400_200, 400_600), "watch", WATCH, 200, "");
    let relist = ((401_300, 401_400), "list", AT_LAST, 200, "");
    let long = ((50, 400_100), "watch", WATCH, 200, "");
    assert_eq!(observed(&[LIST, long, unanswered, relist]), "expired/unknown", "the log does not have when it was answered");
}

#[test]
fn etcd_needs_longer_to_end_a_watch_at_an_expired_revision() {
    let watch = line(1, &((50, 400_100), "watch", WATCH, 200, ""));
    let answer = line(2, &((400_200, 400_205), "watch", WATCH, 200, "")).replace("ResponseComplete", "ResponseStarted");
    let end = line(2, &((400_200, 400_290), "watch", WATCH, 200, ""));
    let relist = line(3, &((401_300, 401_400), "list", AT_LAST, 200, ""));
    let of_events = |line: String| line.replace("/pods?", "/events?");
    let lines = [line(0, &LIST), watch, answer, end, relist].map(of_events);
    assert_eq!(observed_in(&lines), "expired/unknown");
}

#[test]
fn short_watch_at_a_young_revision_had_not_expired() {
    let watch = ((50, 400), "watch", WATCH, 200, "");
    assert_eq!(observed(&[LIST, watch, ((1_500, 1_600), "list", AT_LAST, 200, "")]), "very-short-watch");
}

#[test]
fn end_before_the_timeout_is_unknown_as_the_log_does_not_show_it() {
    let watch = ((50, 100_000), "watch", WATCH, 200, "");
    for (query, cause) in [(AT_LAST, "unknown/end-not-logged"), ("limit=500&resourceVersion=0", "unknown/end-not-logged")] {
        assert_eq!(observed(&[LIST, watch, ((101_000, 101_100), "list", query, 200, "")]), cause, "{query}");
    }
}

#[test]
fn brief_streaming_list_before_a_list_at_its_revision_had_not_expired() {
    let stream = |revision: &'static str, asked, ended| ((asked, ended), "watch", revision, 200, "");
    let requests = [stream(STREAM, 0, 300), stream(STREAM_AT_LAST, 1_500, 1_600), stream(STREAM_AT_LAST, 3_000, 90_000)];
    assert_eq!(observed(&requests), "very-short-watch very-short-watch");
}

#[test]
fn streaming_list_that_ends_after_waiting_for_its_revision_is_too_new() {
    let watch = ((50, 100_000), "watch", WATCH, 200, "");
    for (ended, cause) in [(104_010, "too-large-resource-version"), (106_000, "unknown/end-not-logged")] {
        let waits = ((101_000, ended), "watch", STREAM_AT_LAST, 200, "");
        let again = ((ended + 10, 500_000), "watch", STREAM, 200, "");
        assert!(observed(&[LIST, watch, waits, again]).ends_with(cause), "{}", observed(&[LIST, watch, waits, again]));
    }
}

#[test]
fn revision_of_a_long_watch_without_bookmarks_grows_old() {
    let watch = ((50, 400_100), "watch", WITHOUT_BOOKMARKS, 200, "");
    let newer = "resourceVersion=120&timeoutSeconds=400&watch=true";
    let expired = ((400_200, 400_204), "watch", newer, 200, "");
    let relist = ((401_300, 401_400), "list", "limit=500&resourceVersion=0", 200, "");
    assert_eq!(observed(&[LIST, watch, expired, relist]), "expired/bookmarks-not-requested");
}

/// The causes and storms of clients that list from nothing after their API server was killed: from and to these times in milliseconds. Its own
/// reflectors list at `own`.
fn after_kill(clients: usize, (asked, answered): (u64, u64), own_asked: u64) -> String {
    let own = |number: usize, request: &Logged<'_>, resource: &str| {
        line(number, request)
            .replace("/pods?", &format!("/{resource}?"))
            .replace(r#""username":"u""#, r#""username":"system:apiserver""#)
    };
    let of_client =
        |number: usize, request: &Logged<'_>| line(number, request).replace("controller/1", &format!("agent-{}", number % clients));
    let resources = ["secrets", "services", "namespaces"];
    let open = |line: String| line.replace("ResponseComplete", "ResponseStarted");
    let watch = ((0, 1), "watch", WITHOUT_BOOKMARKS, 200, "");
    let watches = (0..clients).map(|client| open(of_client(client, &watch)));
    let own_watches = resources.iter().enumerate().map(|(number, resource)| open(own(100 + number, &watch, resource)));
    let list = |from, to| ((from, to), "list", "limit=500&resourceVersion=0", 200, "");
    let lists = (0..clients).map(|client| of_client(clients + client, &list(asked + client as u64, answered)));
    let own_lists =
        resources.iter().enumerate().map(|(number, resource)| own(200 + number, &list(own_asked, own_asked + 100), resource));
    let lines: Vec<String> = watches.chain(own_watches).chain(lists).chain(own_lists).collect();
    observed_in(&lines)
}

#[test]
fn restart_of_the_api_server_is_the_trigger_of_the_storm_after_it() {
    const CLIENTS: usize = 24;
    let words = after_kill(CLIENTS, (60_000, 60_100), 61_000);
    assert_eq!(words.matches("refused-misread").count(), CLIENTS, "{words}");
    assert!(words.contains("storm ApiServerRestart"), "{words}");
}

#[test]
fn silence_of_half_a_second_shows_that_the_api_server_was_killed() {
    assert_eq!(after_kill(1, (601, 610), 700), "refused-misread");
    assert_eq!(after_kill(1, (401, 410), 500), "", "too short for a restart");
}

#[test]
fn pause_while_an_api_server_starts_is_no_other_silence() {
    assert_eq!(after_kill(1, (60_000, 60_800), 60_900), "refused-misread");
}

#[test]
fn client_that_resumes_does_not_relist() {
    let watches = [((50, 400_050), "watch", WATCH, 200, ""), ((400_060, 450_000), "watch", WATCH, 200, "")];
    assert_eq!(observed(&[LIST, watches[0], watches[1]]), "");
}

#[test]
fn refusals_have_the_causes_of_their_status() {
    let watch = ((50, 400_050), "watch", WATCH, 200, "");
    let too_large = r#","reason":"Timeout","message":"Timeout: Too large resource version: 900, current: 100","details":{"causes":[{"reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1}"#;
    let list = ((400_100, 403_100), "list", "resourceVersion=900", 504, too_large);
    let second = ((404_000, 404_100), "list", "", 200, "");
    let words = "too-large-after-waiting too-large-resource-version";
    assert!(observed(&[LIST, watch, list, second]).ends_with(words), "{}", observed(&[LIST, watch, list, second]));
    let refused = ((400_100, 400_101), "watch", WATCH, 403, "");
    assert!(observed(&[LIST, watch, refused, ((401_000, 401_100), "list", AT_LAST, 200, "")]).ends_with("watch-refused/403"));
}

/// The line of a watch cache about a watch that it closes by force.
fn forced(at: u64, named: &str) -> String {
    let (minutes, seconds, millis) = (at / 60_000, at / 1_000 % 60, at % 1_000);
    format!("I1122 02:{minutes:02}:{seconds:02}.{millis:03}000       1 cache_watcher.go:203] Forcing {named}")
}

const NAMED: &str = r#"pods watcher close due to unresponsiveness: key: "/pods/", labels: "", fields: "". len(c.input) = 10, len(c.result) = 10, graceful = false"#;

#[test]
fn watch_that_the_server_closed_by_force_is_named_by_its_log() {
    let watch = line(1, &((50, 100_000), "watch", WATCH, 200, ""));
    let relist = line(2, &((101_000, 101_100), "list", AT_LAST, 200, ""));
    let with = |close: &str| observed_in(&[line(0, &LIST), watch.clone(), forced(99_990, close), relist.clone()]);
    assert_eq!(with(NAMED), "closed-by-force closes 1 0 0");
    for (named, expected) in [
        ("watcher close due to unresponsiveness: *core.Pod", "closed-by-force closes 1 0 0"),
        (&NAMED.replace("\"/pods/\"", "\"/pods/default\""), "unknown/end-not-logged closes 0 0 1"),
        (&NAMED.replace("fields: \"\"", "fields: \"spec.nodeName=n\""), "unknown/end-not-logged closes 0 0 1"),
        ("watcher close due to unresponsiveness: *core.Node", "unknown/end-not-logged closes 0 0 1"),
    ] {
        assert_eq!(with(named), expected, "{named}");
    }
}

#[test]
fn revision_that_expired_after_a_close_by_force_was_that_of_a_client_that_did_not_read() {
    let watch = line(1, &((50, 100_000), "watch", WATCH, 200, ""));
    let expired = line(2, &((100_100, 100_104), "watch", WATCH, 200, ""));
    let relist = line(3, &((101_300, 101_400), "list", AT_LAST, 200, ""));
    let lines = [line(0, &LIST), watch, forced(99_990, NAMED), expired, relist];
    assert_eq!(observed_in(&lines), "expired/client-stalled closes 1 0 0");
}

#[test]
fn close_by_force_belongs_to_the_only_watch_that_ended_then() {
    let of = |agent: &str, line: String| line.replace("controller/1", agent);
    let watch = |number: usize, agent: &str, ended: u64| of(agent, line(number, &((50, ended), "watch", WATCH, 200, "")));
    let list = |number: usize, agent: &str, at: u64| of(agent, line(number, &((at, at + 90), "list", AT_LAST, 200, "")));
    let story = |other_ended: u64, closes: &[u64]| {
        let mut lines = vec![of("a/1", line(0, &LIST)), of("b/1", line(1, &LIST))];
        lines.extend([watch(2, "a/1", 100_000), watch(3, "b/1", other_ended), list(4, "a/1", 101_000)]);
        lines.extend(closes.iter().map(|at| forced(*at, NAMED)));
        observed_in(&lines)
    };
    assert_eq!(story(300_000, &[99_990]), "closed-by-force closes 1 0 0");
    assert_eq!(story(300_000, &[99_990, 99_995]), "closed-by-force closes 1 0 0", "a watch may have two lines");
    assert_eq!(story(100_900, &[99_990]), "unknown/end-not-logged closes 0 1 0", "both ended then");
    assert_eq!(story(300_000, &[98_000]), "unknown/end-not-logged closes 0 1 0", "none ended then");
    assert_eq!(story(400_050, &[399_900]), "unknown/end-not-logged closes 1 0 0", "the other one is the only one then");
}

#[test]
fn revision_that_expired_after_a_reset_of_the_watch_cache_is_named_by_the_log() {
    let watch = line(1, &((50, 100_000), "watch", WATCH, 200, ""));
    let expired = line(2, &((100_100, 100_104), "watch", WATCH, 200, ""));
    let relist = line(3, &((101_300, 101_400), "list", AT_LAST, 200, ""));
    let with = |at: u64, resource: &str| {
        let reset = forced(at, "")
            .replace("cache_watcher.go:203] Forcing ", &format!("cacher.go:473] Terminating all watchers from cacher {resource}"));
        observed_in(&[line(0, &LIST), watch.clone(), reset.replacen('I', "W", 1), expired.clone(), relist.clone()])
    };
    for (at, resource, cause) in [
        (99_990, "pods", "expired/cache-reset"),
        (99_990, "*core.Pod", "expired/cache-reset"),
        (99_990, "pods.example.com", "expired/unknown"),
        (99_990, "*core.Node", "expired/unknown"),
        (50_000, "pods", "expired/unknown"),
    ] {
        assert_eq!(with(at, resource), cause, "{at} {resource}");
    }
}
