//! Events of reflectors, by version.

use super::reading::{read, time};
use crate::logs::{LogLine, LoggedError, LoggedErrorKind, ReflectorLine, ReflectorLineEvent};
use crate::redacted::Redacted;

const NAME: &str = "k8s.io/client-go/informers/factory.go:134";

fn error(kind: LoggedErrorKind, text: &str) -> LoggedError {
    LoggedError { kind, text: Redacted(text.to_owned()) }
}

#[track_caller]
fn assert_reads(line: &str, reflector: &str, object_type: &str, event: ReflectorLineEvent) {
    let (severity, rest) = line.split_once(' ').unwrap();
    let full = format!("{severity}0620 12:33:17.389016       1 reflector.go:1] {rest}");
    let expected = ReflectorLine {
        at: time("2024-06-20T12:33:17.389016Z"),
        reflector: reflector.to_owned(),
        object_type: object_type.to_owned(),
        event,
    };
    assert_eq!(read(&full), LogLine::Reflector(Box::new(expected)), "{line}");
}

#[test]
fn cycles_and_clean_ends_are_read() {
    use ReflectorLineEvent::{CycleStarted, Synced, WatchClosed};
    for (line, event) in [
        (format!("I Listing and watching *v1.Pod from {NAME}"), CycleStarted),
        (format!(r#"I "Listing and watching" type="*v1.Pod" reflector="{NAME}""#), CycleStarted),
        (format!("I Caches populated for *v1.Pod from {NAME}"), Synced),
        (format!(r#"I "Caches populated" type="*v1.Pod" reflector="{NAME}""#), Synced),
        (format!("I {NAME}: Watch close - *v1.Pod total 12 items received"), WatchClosed { items: Some(12) }),
        (format!(r#"I "Watch close" reflector="{NAME}" type="*v1.Pod" totalItems=12"#), WatchClosed { items: Some(12) }),
        (format!("I {NAME}: watch of *v1.Pod returned 429 - backing off"), ReflectorLineEvent::TooManyRequests),
        (format!(r#"I "Watch returned 429 - backing off" reflector="{NAME}" type="*v1.Pod""#), ReflectorLineEvent::TooManyRequests),
    ] {
        assert_reads(&line, NAME, "*v1.Pod", event);
    }
    let kind = "apps/v1, Kind=Deployment";
    assert_reads(&format!("I Listing and watching {kind} from {NAME}"), NAME, kind, CycleStarted);
}

#[test]
fn expired_watches_are_read() {
    const OLD: LoggedErrorKind = LoggedErrorKind::Expired { requested: None, oldest: None };
    const NUMBERS: LoggedErrorKind = LoggedErrorKind::Expired { requested: Some(123), oldest: Some(456) };
    let text = "too old resource version: 123 (456)";
    for line in [
        // 1.15; 1.16 and 1.17; 0.18 and later; 0.33 and later.
        format!("W {NAME}: watch of *v1.Pod ended with: {text}"),
        format!("I {NAME}: watch of *v1.Pod ended with: {text}"),
        format!("I {NAME}: watch of *v1.Pod closed with: {text}"),
        format!(r#"I "Watch closed" reflector="{NAME}" type="*v1.Pod" err="{text}""#),
    ] {
        assert_reads(&line, NAME, "*v1.Pod", ReflectorLineEvent::WatchExpired(error(NUMBERS, text)));
    }
    let text = "The resourceVersion for the provided watch is too old.";
    let line = format!("I {NAME}: watch of *v1.Pod closed with: {text}");
    assert_reads(&line, NAME, "*v1.Pod", ReflectorLineEvent::WatchExpired(error(OLD, text)));
}

#[test]
fn failed_watches_are_read() {
    let text = r#"an error on the server ("unable to decode an event from the watch stream: connection timed out") has prevented the request from succeeding"#;
    let event = || ReflectorLineEvent::WatchFailed(error(LoggedErrorKind::Other, text));
    let quoted = text.replace('"', "\\\"");
    for line in [
        format!("W {NAME}: watch of *v1beta1.Ingress ended with: {text}"),
        format!(r#"I "Warning: watch ended with error" reflector="{NAME}" type="*v1beta1.Ingress" err="{quoted}""#),
        format!("I {NAME}: Watch for *v1beta1.Ingress closed with unexpected EOF: {text}"),
        format!("I {NAME}: retrying watch of *v1beta1.Ingress internal error: {text}"),
    ] {
        assert_reads(&line, NAME, "*v1beta1.Ingress", event());
    }
    let text = "Get \"https://10.0.0.1/api/v1/pods?watch=true\": dial tcp 10.0.0.1:443: connect: connection refused";
    let event = || ReflectorLineEvent::WatchFailed(error(LoggedErrorKind::ConnectionRefused, text));
    let quoted = text.replace('"', "\\\"");
    for line in [
        format!("E {NAME}: Failed to watch *v1.Pod: {text}"),
        format!("I {NAME}: watch of *v1.Pod returned {text} - backing off").replace(" - backing off", ""),
        format!(r#"I "Watch failed - backing off" reflector="{NAME}" type="*v1.Pod" err="{quoted}""#),
    ] {
        assert_reads(&line, NAME, "*v1.Pod", event());
    }
    let short = format!("very short watch: {NAME}: Unexpected watch close - watch lasted less than a second and no items received");
    for line in [
        format!("W {NAME}: watch of *v1.Pod ended with: {short}"),
        format!(r#"I "Warning: watch ended with error" reflector="{NAME}" type="*v1.Pod" err="{short}""#),
    ] {
        assert_reads(&line, NAME, "*v1.Pod", ReflectorLineEvent::VeryShortWatch);
    }
}

#[test]
fn failed_lists_are_read() {
    const AHEAD: LoggedErrorKind = LoggedErrorKind::TooLarge { requested: Some(159_128_021), current: Some(159_127_032) };
    let text = "Timeout: Too large resource version: 159128021, current: 159127032";
    let inner = format!("failed to list *v1.Secret: {text}");
    let outer = || error(AHEAD, &inner);
    for (line, error) in [
        // Up to 0.18; 0.19 and later; 0.23 to 0.32, too; 0.31 and 0.32; 0.33 and later.
        (format!("E {NAME}: Failed to list *v1.Secret: {text}"), error(AHEAD, text)),
        (format!("E {NAME}: Failed to watch *v1.Secret: {inner}"), outer()),
        (format!("W {NAME}: {inner}"), error(AHEAD, text)),
        (format!(r#"E "Unhandled Error" err="{NAME}: Failed to watch *v1.Secret: {inner}" logger="UnhandledError""#), outer()),
        (format!(r#"E "Failed to watch" err="{inner}" logger="UnhandledError" reflector="{NAME}" type="*v1.Secret""#), outer()),
    ] {
        assert_reads(&line, NAME, "*v1.Secret", ReflectorLineEvent::ListFailed(error));
    }
}

#[test]
fn failed_streaming_lists_are_read() {
    let fell_back = |text: Option<&str>| ReflectorLineEvent::FellBackToList(text.map(|text| error(LoggedErrorKind::Other, text)));
    for (line, event) in [
        (
            "W the watch-list feature is not supported by the server, falling back to the previous LIST/WATCH semantic",
            fell_back(None),
        ),
        (
            "W The watchlist request ended with an error, falling back to the standard LIST/WATCH semantics because making progress is better than deadlocking, err = the server said no",
            fell_back(Some("the server said no")),
        ),
        (
            r#"E "The watchlist request ended with an error, falling back to the standard LIST/WATCH semantics because making progress is better than deadlocking" err="x""#,
            fell_back(Some("x")),
        ),
        (
            r#"I "Data couldn't be fetched in watchlist mode. Falling back to regular list. This is expected if watchlist is not supported or disabled in kube-apiserver." err="x""#,
            fell_back(Some("x")),
        ),
    ] {
        assert_reads(line, "", "", event);
    }
    for line in [
        format!("W {NAME}: awaiting required bookmark event for initial events stream, no events received for 20s"),
        format!(
            "W {NAME}: hasn't received required bookmark event marking the end of initial events stream, received last event 10s ago"
        ),
        format!(
            r#"I "Warning: event bookmark expired" err="{NAME}: hasn't received required bookmark event marking the end of initial events stream, received last event 10s ago""#
        ),
    ] {
        assert_reads(&line, NAME, "", ReflectorLineEvent::BookmarkMissing);
    }
}

#[test]
fn reflector_of_a_watch_cache_is_none_of_a_client() {
    for (name, expected) in [("storage/cacher.go:/pods", true), (NAME, false)] {
        let line = format!("W0620 12:33:17.389016       1 reflector.go:1] {name}: watch of *core.Pod ended with: x");
        let LogLine::Reflector(line) = read(&line) else { panic!("{name}") };
        assert_eq!(line.is_of_watch_cache(), expected);
    }
}

#[test]
fn other_lines_of_its_file_are_no_events() {
    for text in [
        "Starting reflector *v1.Pod (0s) from x.go:1",
        "x.go:1: forcing resync",
        "two words: watch of *v1.Pod ended with: x",
        "x.go:1: watch of *v1.Pod",
        r#""Starting reflector" type="*v1.Pod" resyncPeriod="0s" reflector="x.go:1""#,
        r#""Unhandled Error" err="other: thing""#,
    ] {
        assert_eq!(read(&format!("I0620 12:33:17.389016       1 reflector.go:1] {text}")).form(), "other klog line", "{text}");
    }
}

#[test]
fn debug_shows_no_error_text() {
    let line = r#"W0620 12:33:17.389016 1 reflector.go:1] x.go:1: watch of *v1.Pod ended with: Get "https://a/?token=c4n4ry""#;
    assert!(!format!("{:?}", read(line)).contains("c4n4ry"));
}
