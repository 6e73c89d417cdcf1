//! Events of watch caches, by version.

use std::time::Duration;

use super::reading::{read, time};
use crate::logs::{CacheEvent, CacheLine, CacheWatch, CachedResource, LogLine, LoggedError, LoggedErrorKind};
use crate::redacted::Redacted;

fn named(name: &str) -> CachedResource {
    CachedResource::Named(name.to_owned())
}

fn error(kind: LoggedErrorKind, text: &str) -> LoggedError {
    LoggedError { kind, text: Redacted(text.to_owned()) }
}

fn watch(key: &str, fields: &str) -> CacheWatch {
    CacheWatch { key: key.to_owned(), labels: String::new(), fields: fields.to_owned() }
}

#[test]
fn each_form_is_read() {
    const COMPACTED: LoggedErrorKind = LoggedErrorKind::Expired { requested: None, oldest: None };
    let core_pod = || Some(CachedResource::GoType("*core.Pod".to_owned()));
    let table: Vec<(&str, Option<CachedResource>, CacheEvent)> = vec![
        ("W cacher.go:168] Terminating all watchers from cacher pods", Some(named("pods")), CacheEvent::Restarted),
        ("W cacher.go:155] Terminating all watchers from cacher *core.Pod", core_pod(), CacheEvent::Restarted),
        (
            "E cacher.go:475] cacher (deployments.apps): unexpected ListAndWatch error: failed to list *apps.Deployment: connection refused; reinitializing...",
            Some(named("deployments.apps")),
            CacheEvent::SourceFailed(error(
                LoggedErrorKind::ConnectionRefused,
                "failed to list *apps.Deployment: connection refused",
            )),
        ),
        (
            "E cacher.go:427] unexpected ListAndWatch error: storage/cacher.go:/pods: Failed to list *core.Pod: x",
            None,
            CacheEvent::SourceFailed(error(LoggedErrorKind::Other, "storage/cacher.go:/pods: Failed to list *core.Pod: x")),
        ),
        (r#"I cacher.go:471] "cacher initialized" group="" resource="pods""#, Some(named("pods")), CacheEvent::Initialized),
        (
            r#"I cacher.go:494] "cacher initialized" group="apps" resource="deployments" duration="1s""#,
            Some(named("deployments.apps")),
            CacheEvent::Initialized,
        ),
        (
            r#"I cache_watcher.go:203] Forcing pods watcher close due to unresponsiveness: key: "/pods", labels: "", fields: "spec.nodeName=n1, a=b". len(c.input) = 10, len(c.result) = 10, graceful = false"#,
            Some(named("pods")),
            CacheEvent::WatchUnresponsive {
                watch: Some(watch("/pods", "spec.nodeName=n1, a=b")),
                waiting: Some(10),
                graceful: Some(false),
            },
        ),
        (
            r#"I cacher.go:1259] Forcing *core.Pod watcher close due to unresponsiveness: key: "/pods/a", labels: "", fields: "". len(c.input) = 7, len(c.result) = 10"#,
            core_pod(),
            CacheEvent::WatchUnresponsive { watch: Some(watch("/pods/a", "")), waiting: Some(7), graceful: None },
        ),
        (
            "I cacher.go:1162] Forcing watcher close due to unresponsiveness: *core.Pod",
            core_pod(),
            CacheEvent::WatchUnresponsive { watch: None, waiting: None, graceful: None },
        ),
        (
            r#"I cache_watcher.go:503] processing 14040 initEvents of pods (key: "/pods", labels: "", fields: "") took 993.5ms"#,
            Some(named("pods")),
            CacheEvent::InitialEvents { watch: Some(watch("/pods", "")), events: 14_040, took: Duration::from_micros(993_500) },
        ),
        (
            "I cacher.go:1281] processing 14040 initEvents of *core.Pod took 993.5ms",
            core_pod(),
            CacheEvent::InitialEvents { watch: None, events: 14_040, took: Duration::from_micros(993_500) },
        ),
        (
            "W watcher.go:338] watch chan error: etcdserver: mvcc: required revision has been compacted",
            None,
            CacheEvent::EtcdWatchFailed(error(COMPACTED, "etcdserver: mvcc: required revision has been compacted")),
        ),
        (
            "E watcher.go:342] watch chan error: rpc error",
            None,
            CacheEvent::EtcdWatchFailed(error(LoggedErrorKind::Other, "rpc error")),
        ),
        (
            r#"E delegator.go:347] "Cache consistency check failed" group="apps" resource="deployments" resourceVersion="42" etcdDigest="a" cacheDigest="b""#,
            Some(named("deployments.apps")),
            CacheEvent::Inconsistent { resource_version: "42".to_owned() },
        ),
    ];
    for (line, resource, event) in table {
        let (severity, rest) = line.split_once(' ').unwrap();
        let full = format!("{severity}0620 12:33:17.389016       1 {rest}");
        let expected = CacheLine { at: time("2024-06-20T12:33:17.389016Z"), resource, event };
        assert_eq!(read(&full), LogLine::Cache(Box::new(expected)), "{line}");
    }
}

#[test]
fn event_in_json_is_read() {
    let line = r#"{"ts":1718886797389.016,"caller":"cacher/cacher.go:168","msg":"Terminating all watchers from cacher pods\n"}"#;
    let expected =
        CacheLine { at: time("2024-06-20T12:33:17.389016Z"), resource: Some(named("pods")), event: CacheEvent::Restarted };
    assert_eq!(read(line), LogLine::Cache(Box::new(expected)));
}

#[test]
fn similar_text_is_other() {
    for text in [
        "cacher (pods): 10 objects queued in incoming channel.",
        "processing initEvents",
        "processing x initEvents of pods took 1s",
        "Forcing resync",
        r#""Cache consistency check passed" group="" resource="pods""#,
    ] {
        assert_eq!(read(&format!("I0620 12:33:17.389016       1 cacher.go:1] {text}")).form(), "other klog line", "{text}");
    }
}
