//! `watchtap verify` against servers that behave in unusual ways.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use observer_tests::{ScriptedUpstream, ServerStream, output_within, read_head, watchtap};
use serde_json::Value;

const ENDS_WITHIN: Duration = Duration::from_mins(2);
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/roles";
const OBJECT: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/a";

/// The parts of an API server that `verify` uses; all lists come from a cache.
#[derive(Clone, Copy)]
struct Behaviour {
    version: &'static str,
    /// Number of answers on one connection before it ends.
    answers: u64,
    /// Whether every connection leads to another server.
    is_balanced: bool,
    /// Number of unrelated lines on the metrics page.
    padding: usize,
    /// Text at the end of the page.
    end: &'static str,
    /// Number of pages after a watch that do not yet count its first events.
    late_pages: u64,
}

const USUAL: Behaviour =
    Behaviour { version: "v1.34.4", answers: u64::MAX, is_balanced: false, padding: 0, end: "", late_pages: 0 };

#[test]
fn closed_connection_restarts_the_row() {
    let verified = verify(Behaviour { answers: 7, ..USUAL });
    assert_eq!(verified.exit_code, Some(0), "{verified:?}");
    assert_eq!(verified.document["tally"]["agree"], 2);
}

#[test]
fn one_connection_per_response_leaves_rows_not_provoked() {
    let verified = verify(Behaviour { answers: 1, ..USUAL });
    assert_eq!((verified.exit_code, &verified.document["tally"]["not_provoked"]), (Some(2), &2.into()), "{verified:?}");
}

#[test]
fn counters_of_another_server_are_not_compared() {
    // After every three answers another server takes over, so the pages before and after an answer never come from the same one.
    let verified = verify(Behaviour { answers: 3, is_balanced: true, ..USUAL });
    let tally = &verified.document["tally"];
    assert_eq!((&tally["disagree"], &tally["noisy"]), (&0.into(), &0.into()), "{verified:?}");
}

#[test]
fn verify_waits_for_late_watch_counters() {
    let verified = verify_shapes(Behaviour { late_pages: 2, ..USUAL }, &["watch, RV=0"]);
    assert_eq!((verified.exit_code, &verified.document["tally"]["agree"]), (Some(0), &1.into()), "{verified:?}");
    assert_eq!(verified.document["rows"][0]["attempts"].as_array().unwrap().len(), 1, "{verified:?}");
}

#[test]
fn large_and_openmetrics_pages_are_read() {
    let padded = verify(Behaviour { padding: 700_000, ..USUAL });
    assert_eq!(padded.exit_code, Some(0), "{padded:?}");
    let openmetrics = verify(Behaviour { end: "# EOF\n", ..USUAL });
    assert_eq!(openmetrics.exit_code, Some(0), "{openmetrics:?}");
}

#[test]
fn vendor_versions_are_accepted_and_an_unbuilt_one_refused() {
    let vendor = verify(Behaviour { version: "v1.34.4-gke.123", ..USUAL });
    assert_eq!((vendor.exit_code, &vendor.document["server_version"]), (Some(0), &"v1.34.4-gke.123".into()));
    let newer = verify(Behaviour { version: "v1.45.0", ..USUAL });
    let assumptions = newer.document["assumptions"].to_string();
    assert!(assumptions.contains("rules of 1.37 used"), "{assumptions}");
    let unbuilt = verify(Behaviour { version: "v0.0.0-master+$Format:%H$", ..USUAL });
    assert_eq!(unbuilt.exit_code, Some(125));
    assert!(
        unbuilt.stderr.contains("`v0.0.0-master+$Format:%H$`, which no rule covers; pass --server-version"),
        "{}",
        unbuilt.stderr
    );
}

#[test]
fn unknown_shape_error_lists_the_shapes() {
    let mut command = watchtap().unwrap();
    let kubeconfig = kubeconfig("https://127.0.0.1:1", "");
    command.args(["verify", "--shape", "nonsense"]).env("KUBECONFIG", kubeconfig.path());
    let output = output_within(&mut command, ENDS_WITHIN).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(125) && stderr.contains("  watch list, RV=N"), "{stderr}");
}

#[derive(Debug)]
struct Verified {
    exit_code: Option<i32>,
    document: Value,
    stderr: String,
}

/// Serves roles that no other client reads.
pub(super) fn server_of_roles() -> ScriptedUpstream {
    server_that(USUAL)
}

fn server_that(behaviour: Behaviour) -> ScriptedUpstream {
    let connections = AtomicU64::new(0);
    // Counters of one server, or of one per connection.
    let shared = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    // Number of pages until the first events of the last watch are counted, and the count itself.
    let (late, initial) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
    ScriptedUpstream::start(&[b"http/1.1"], move |stream| {
        let connection = connections.fetch_add(1, Ordering::SeqCst);
        let started = if behaviour.is_balanced { connection } else { 0 };
        let own = [AtomicU64::new(100 * connection), AtomicU64::new(0)];
        let [lists, gets] = if behaviour.is_balanced { &own } else { &*shared };
        let page = |lists: u64, gets: u64| {
            if late.load(Ordering::SeqCst) == 0 {
                initial.fetch_add(2, Ordering::SeqCst);
            }
            // After 0 it wraps to a number that no test reaches.
            late.fetch_sub(1, Ordering::SeqCst);
            let initial = initial.load(Ordering::SeqCst);
            let padding = "apiserver_request_duration_seconds_bucket{le=\"0.05\",verb=\"LIST\"} 12345\n".repeat(behaviour.padding);
            format!(
                "kubernetes_build_info{{git_version=\"{}\"}} 1\nprocess_start_time_seconds {started}\n{padding}\
                 apiserver_storage_list_total{{group=\"rbac.authorization.k8s.io\",resource=\"roles\"}} 1\n\
                 apiserver_cache_list_total{{group=\"rbac.authorization.k8s.io\",resource=\"roles\",index=\"\"}} {lists}\n\
                 apiserver_init_events_total{{group=\"rbac.authorization.k8s.io\",resource=\"roles\"}} {initial}\n\
                 etcd_request_duration_seconds_count{{operation=\"get\",group=\"rbac.authorization.k8s.io\",resource=\"roles\"}} {gets}\n{}",
                behaviour.version, behaviour.end
            )
        };
        for _ in 0..behaviour.answers {
            let Some(target) = request(stream)? else { return Ok(()) };
            let (path, query) = target.split_once('?').unwrap_or((&target, ""));
            let body = match path {
                "/version" => format!(r#"{{"gitVersion":"{}"}}"#, behaviour.version),
                "/metrics" => page(lists.load(Ordering::SeqCst), gets.load(Ordering::SeqCst)),
                "/apis/rbac.authorization.k8s.io" => r#"{"preferredVersion":{"version":"v1"}}"#.to_owned(),
                "/apis/rbac.authorization.k8s.io/v1" => r#"{"resources":[{"name":"roles"}]}"#.to_owned(),
                ROLES if query.contains("watch=true") => {
                    late.store(behaviour.late_pages, Ordering::SeqCst);
                    events()
                }
                ROLES if query.contains("resourceVersion=0") => {
                    lists.fetch_add(1, Ordering::SeqCst);
                    list()
                }
                // A real server reads these lists from etcd; no test here depends on them.
                ROLES => list(),
                OBJECT => {
                    gets.fetch_add(1, Ordering::SeqCst);
                    "{}".to_owned()
                }
                _ => "{}".to_owned(),
            };
            respond(stream, &body)?;
        }
        Ok(())
    })
    .unwrap()
}

fn verify(behaviour: Behaviour) -> Verified {
    verify_shapes(behaviour, &["RV=0, NotOlderThan", "RV=0, limit"])
}

fn verify_shapes(behaviour: Behaviour, shapes: &[&str]) -> Verified {
    let upstream = server_that(behaviour);
    let kubeconfig = kubeconfig(&format!("https://{}", upstream.address()), upstream.ca_pem());
    let mut command = watchtap().unwrap();
    command.args(["verify", "--format", "json", "--resource", "roles.rbac.authorization.k8s.io"]);
    command.args(shapes.iter().flat_map(|shape| ["--shape", shape])).env("KUBECONFIG", kubeconfig.path());
    let output = output_within(&mut command, ENDS_WITHIN).unwrap();
    Verified {
        exit_code: output.status.code(),
        document: serde_json::from_slice(&output.stdout).unwrap_or_default(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The events of a watch: each object once.
fn events() -> String {
    let event = |name: &str| {
        let metadata = format!(r#"{{"name":"{name}","namespace":"default","resourceVersion":"7"}}"#);
        format!(r#"{{"type":"ADDED","object":{{"kind":"Role","apiVersion":"v1","metadata":{metadata}}}}}"#)
    };
    ["a", "b"].map(event).join("\n") + "\n"
}

fn list() -> String {
    let item = |name: &str| format!(r#"{{"metadata":{{"name":"{name}","namespace":"default","resourceVersion":"7"}}}}"#);
    let items = [item("a"), item("b")].join(",");
    format!(r#"{{"kind":"RoleList","apiVersion":"v1","metadata":{{"resourceVersion":"9"}},"items":[{items}]}}"#)
}

/// The target of the next request; `None` at the end of the connection.
fn request(stream: &mut ServerStream) -> io::Result<Option<String>> {
    Ok(read_head(stream)?.and_then(|head| head.split(' ').nth(1).map(str::to_owned)))
}

fn respond(stream: &mut ServerStream, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all((head + body).as_bytes())?;
    stream.flush()
}

fn kubeconfig(server: &str, authority: &str) -> tempfile::NamedTempFile {
    use base64::Engine;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let authority = base64::prelude::BASE64_STANDARD.encode(authority);
    let trust = if authority.is_empty() { String::new() } else { format!(", certificate-authority-data: {authority}") };
    write!(
        file,
        "{{current-context: c, contexts: [{{name: c, context: {{cluster: c, user: u}}}}], clusters: [{{name: c, cluster: {{server: \
         \"{server}\"{trust}}}}}], users: [{{name: u, user: {{token: secret}}}}]}}"
    )
    .unwrap();
    file
}
