//! The types of log lines, with a secret wherever a line may have one.

use observer_core::logs::{
    AuditEvent, AuditId, CacheEvent, CachedResource, Envelope, EtcdRequest, FoundRecord, JoinedLogs, LogClock, LogLine, LogRecord,
    LogRecords, LogReplay, LoggedRequest, ReflectorLineEvent, TraceCollector, Unwrapper, Wrapping,
};

use super::bodies::NAME;
use super::debug_output::Shown;
use super::secrets::secret;

fn replayed_log(event: &str, shown: &mut Shown) {
    let (mut replay, mut unwrapper) = (LogReplay::default(), Unwrapper::default());
    for line in [event.to_owned(), format!("2026-11-22T02:00:00.000000000Z stderr P {event}")] {
        let mut observations = Vec::new();
        replay.line(0, line.as_bytes(), &mut |observation| observations.push(observation));
        shown.note(&replay);
        shown.note(&unwrapper.unwrap(line.as_bytes(), &mut |_wrapping, _text| false));
        shown.note(&unwrapper);
    }
    let mut joined = JoinedLogs::default();
    replay.finish(&mut |observation| {
        shown.note(&observation);
        joined.logged(observation, &mut |_| {});
    });
    shown.note(&joined);
    shown.note(&AuditId::of("a").unwrap());
    shown.note(&replay.extent());
    shown.note(&Envelope::Cri);
    shown.note(&Wrapping { envelope: Envelope::Cri, at: None });
}

/// A line of each form, with a secret where the form may have one.
fn lines(audit: &str, etcd: &str) -> Vec<String> {
    let klog = |file: &str, text: String| format!("I0620 12:33:17.389016       1 {file}:1] {text}");
    let watch = r#"key: "/pods", labels: "", fields: "spec.nodeName=n". len(c.input) = 10, len(c.result) = 10, graceful = false"#;
    let trace = r#"Trace[1]: ["List(recursive=true) etcd3" key:/pods,limit:500 9ms (12:33:16.1)"#;
    vec![
        format!(
            r#"2020-03-01T10:00:00Z AUDIT: id="a" stage="Panic" method="list" user="u" groups="{audit}" uri="/x?token={audit}" response="500""#
        ),
        format!(
            r#"{{"protoPayload":{{"methodName":"io.k8s.core.v1.pods.list","resourceName":"core/v1/pods?token={audit}","status":{{"code":1,"message":"{audit}"}}}}}}"#
        ),
        klog("httplog.go", format!(r#""HTTP" verb="GET" URI="/x?token={audit}" latency="1ms" resp=500 statusStack="{audit}""#)),
        klog("get.go", "Starting watch for /api/v1/pods, rv=1 labels= fields= timeout=1s".to_owned()),
        klog("cacher.go", format!("cacher (pods): unexpected ListAndWatch error: {audit}; reinitializing...")),
        klog("cacher.go", format!("Forcing pods watcher close due to unresponsiveness: {watch}")),
        klog("reflector.go", format!("x.go:1: watch of *v1.Pod ended with: Get \"https://a/?token={audit}\"")),
        klog("round_trippers.go", format!("GET https://{audit}@a/x?token={audit} 200 OK in 8 milliseconds")),
        klog("round_trippers.go", format!("    Authorization: Bearer {audit}")),
        klog("request.go", format!("Response Body: {audit}")),
        klog("trace.go", format!(r#"Trace[1]: "List" url:/x?token={audit} (20-Jun-2024 12:33:16.1) (total time: 9ms):"#)),
        trace.to_owned(),
        r#"Trace[1]:  ---"a" 1ms (12:33:16.1)"#.to_owned(),
        "Trace[1]: [9ms] [9ms] END".to_owned(),
        format!(
            r#"{{"level":"warn","msg":"apply request took too long","took":"1s","prefix":"","request":"{etcd}","response":"size:1","error":"{etcd}"}}"#
        ),
        format!(
            r#"{{"level":"warn","msg":"request stats","time spent":"1s","response type":"/etcdserverpb.KV/Put","request content":"value:{etcd}"}}"#
        ),
    ]
}

fn typed_lines(audit: &str, etcd: &str, shown: &mut Shown) {
    let clock = LogClock::of_year(2024, 0);
    let mut collector = TraceCollector::default();
    for line in lines(audit, etcd) {
        let line = LogLine::read(line.as_bytes(), &clock).unwrap();
        shown.note(&line);
        match &line {
            LogLine::GkeAudit(entry) => shown.note(&**entry),
            LogLine::Request(request) => shown.note(&**request),
            LogLine::WatchStarted(watch) => shown.note(&**watch),
            LogLine::Cache(line) => {
                shown.note(&**line);
                shown.note(&line.event);
                shown.note::<CachedResource>(line.resource.as_ref().unwrap());
                if let CacheEvent::SourceFailed(error) = &line.event {
                    shown.note(error);
                }
                if let CacheEvent::WatchUnresponsive { watch: Some(watch), .. } = &line.event {
                    shown.note(watch);
                }
            }
            LogLine::Reflector(line) => {
                shown.note(&**line);
                shown.note::<ReflectorLineEvent>(&line.event);
            }
            LogLine::Client(request) => shown.note(&**request),
            LogLine::Etcd(line) => {
                shown.note(&**line);
                shown.note(&line.event);
            }
            LogLine::Trace { at, parts } => {
                for part in parts {
                    shown.note(part);
                    collector.take(part, *at, &mut |trace| {
                        shown.note(&trace);
                        trace.spans.iter().for_each(|span| shown.note(span));
                        trace.spans.iter().flat_map(|span| &span.steps).for_each(|step| shown.note(step));
                    });
                    shown.note(&collector);
                }
            }
            LogLine::Audit(_) | LogLine::AuditList(_) | LogLine::LegacyAudit(_) | LogLine::Cut | LogLine::Other { .. } => {}
        }
    }
}

/// The records of the lines, and the requests that they are about.
fn records(event: &str, audit: &str, etcd: &str, shown: &mut Shown) {
    let mut records = LogRecords::of(LogClock::of_year(2024, 0));
    for line in [vec![event.to_owned(), "{".to_owned(), format!("\"a\": \"{audit}\",")], lines(audit, etcd)].concat() {
        records.line(line.as_bytes(), &mut |found| {
            shown.note::<FoundRecord>(&found);
            shown.note::<LogRecord>(&found.record);
            let LogRecord::Line(line) = &found.record else { return };
            let request = match line {
                LogLine::Audit(event) => Some(LoggedRequest::of_event(event, None)),
                LogLine::Request(request) => Some(LoggedRequest::of_request_log(request)),
                LogLine::Client(request) => LoggedRequest::of_client(request),
                LogLine::WatchStarted(watch) => Some(LoggedRequest::of_watch(watch)),
                LogLine::AuditList(_)
                | LogLine::LegacyAudit(_)
                | LogLine::GkeAudit(_)
                | LogLine::Cache(_)
                | LogLine::Trace { .. }
                | LogLine::Reflector(_)
                | LogLine::Etcd(_)
                | LogLine::Cut
                | LogLine::Other { .. } => None,
            };
            shown.note(&request.unwrap_or_else(|| LoggedRequest::of_event(&AuditEvent::read(event.as_bytes()).unwrap(), None)));
        });
        shown.note(&records);
    }
}

pub(super) fn logs() -> Shown {
    let mut shown = Shown::new("lines of logs");
    let (audit, etcd) = (secret("audit log"), secret("etcd log"));
    let line = format!(
        r#"{{"stage":"ResponseComplete","stageTimestamp":"2026-11-22T02:00:00Z","auditID":"a","verb":"create","user":{{"username":"u","extra":{{"x":["{audit}"]}}}},"requestURI":"/x?token={audit}","objectRef":{{"resource":"secrets","name":"{NAME}"}},"responseStatus":{{"code":201,"message":"{audit}"}},"requestObject":{{"data":{{"x":"{audit}"}}}},"annotations":{{"x":"{audit}"}}}}"#
    );
    shown.note(&AuditEvent::read(line.as_bytes()).unwrap());
    replayed_log(&line, &mut shown);
    typed_lines(&audit, &etcd, &mut shown);
    records(&line, &audit, &etcd, &mut shown);
    for (kind, content) in
        [("Range", "key:\\\"/registry/pods/\\\" limit:1"), ("Put", &*format!("key:\\\"k\\\" value:\\\"{etcd}\\\""))]
    {
        let line = format!(
            r#"{{"level":"debug","msg":"request stats","response type":"/etcdserverpb.KV/{kind}","request content":"{content}","x":"{etcd}"}}"#
        );
        shown.note(&EtcdRequest::read(line.as_bytes()).unwrap());
    }
    shown
}
