//! Causes of relists and layers of answers that follow from the events of an audit log.

use std::fmt::Write as _;

use observer_core::logs::LogReplay;
use observer_core::observer::{Event, Limits, Observer};

/// A request in a log: its times in milliseconds, verb, query, status, and the rest of the event.
type Logged<'l> = ((u64, u64), &'l str, &'l str, u16, &'l str);

const LIST: Logged<'_> = ((0, 20), "list", "limit=500&resourceVersion=0", 200, "");
const WATCH: &str = "allowWatchBookmarks=true&resourceVersion=100&timeoutSeconds=400&watch=true";
const AT_LAST: &str = "resourceVersion=100";

/// The causes of relists, and the proofs of verdicts, that an observer finds in the lines of these requests of one client.
fn observed(requests: &[Logged<'_>]) -> String {
    let (mut replay, mut observer, mut words) = (LogReplay::default(), Observer::new(Limits::default()), Vec::new());
    let mut take = |observation| {
        observer.observe(observation, &mut |event| {
            if let Event::RelistBegan { began } = &event {
                words.push(began.cause.to_string());
            }
            if let Event::Request { record } = event {
                words.extend(record.verdict.and_then(|verdict| verdict.proof).map(|proof| proof.to_string()));
            }
        });
    };
    for (number, request) in requests.iter().enumerate() {
        replay.line(0, line(number, request).as_bytes(), &mut take);
    }
    replay.finish(&mut take);
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
