//! Rows for a resource of an extension server: the API server proxies the requests, and itself reads nothing.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use observer_tests::{Minor, ScriptedUpstream, read_head};
use serde_json::{Value, json};

use super::asked::Asked;
use super::configuration::{CUSTOM_RESOURCES_ONLY, Configuration};
use super::ground::Ground;
use super::resource::{AGGREGATED_GROUP, Resource};
use super::results::Results;
use super::rows;
use super::session::{About, Session};

const NAME: &str = "aggregated API";

pub(super) fn check(minor: Minor, results: &mut Results) {
    let resource = Resource::aggregated();
    let options = Configuration::of(minor, NAME, &[]).options(minor);
    let mut session = Session::start(&options, &[&format!("--aggregated={AGGREGATED_GROUP}")]);
    if minor == CUSTOM_RESOURCES_ONLY {
        let reason = "the server of 1.37 is that of custom resources alone, which passes nothing on";
        for row in rows::PASSED_ON {
            session.note(Asked::of(row, &resource, NAME).not_provoked(reason));
        }
        return results.add(session);
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let server = ScriptedUpstream::start(&[b"http/1.1"], move |stream| serve(stream, &counter)).unwrap();
    register(&session, server.address().port());
    session.eventually(|| (session.get(&resource.all()).status == 200).then_some(()));

    let passed_on = || Some(asked.load(Ordering::SeqCst));
    let about = About { passed_on: &passed_on, ..About::new(&resource, NAME) };
    let ground = Ground { revision: 5, token: String::new() };
    for row in rows::PASSED_ON {
        session.ask(row, &about, &ground);
    }
    results.add(session);
}

/// Registers the extension server, with a Service of type `ExternalName`: the API server resolves it by name, without kube-proxy
/// (kubernetes/apiserver `pkg/util/proxy/proxy.go` `ResolveCluster`).
fn register(session: &Session, port: u16) {
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "extension"},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    });
    session.direct.post("/api/v1/namespaces/default/services", &service).unwrap().success().unwrap();
    let api_service = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": format!("v1.{AGGREGATED_GROUP}")},
        "spec": {
            "group": AGGREGATED_GROUP, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 15,
            "insecureSkipTLSVerify": true, "service": {"namespace": "default", "name": "extension", "port": port},
        },
    });
    session.direct.post("/apis/apiregistration.k8s.io/v1/apiservices", &api_service).unwrap().success().unwrap();
}

/// Answers all requests of a connection, and counts those for its objects.
fn serve(stream: &mut (impl Read + Write), asked: &AtomicUsize) -> io::Result<()> {
    while let Some(head) = read_head(stream)? {
        let path = head.split(' ').nth(1).unwrap_or_default();
        if path.contains("/flunders") {
            asked.fetch_add(1, Ordering::SeqCst);
        }
        let (status, body) = answer(path);
        let body = body.to_string();
        write!(stream, "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
        stream.flush()?;
    }
    Ok(())
}

fn answer(path: &str) -> (&'static str, Value) {
    let version = format!("{AGGREGATED_GROUP}/v1");
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    if path == format!("/apis/{version}") {
        let resource = json!({"name": "flunders", "kind": "Flunder", "namespaced": true, "verbs": ["get", "list", "watch"]});
        return (
            "200 OK",
            json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": [resource]}),
        );
    }
    let object = json!({"apiVersion": version, "kind": "Flunder", "metadata": {"name": "one-0", "resourceVersion": "7"}});
    if query.contains("watch=") {
        ("200 OK", json!({"type": "ADDED", "object": object}))
    } else if path.ends_with("/flunders") {
        let metadata = json!({"resourceVersion": "9"});
        ("200 OK", json!({"apiVersion": version, "kind": "FlunderList", "metadata": metadata, "items": [object]}))
    } else if path.contains("/flunders/") {
        ("200 OK", object)
    } else {
        ("404 Not Found", json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404}))
    }
}
