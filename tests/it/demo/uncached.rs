//! S3: an informer starts on a resource without a watch cache, or whose watch cache is not filled yet.

use std::fs;

use observer_tests::{Client, RunSession};
use serde_json::{Value, json};

use super::place::{CONFIGMAPS, DemoFixture};

/// A reflector's first list.
const FIRST: &str = "limit=500&resourceVersion=0";

#[test]
fn etcd_reads_and_refusals_without_a_cache_have_their_rules() {
    let place = DemoFixture::start();
    for name in ["one", "two"] {
        place.create(name);
    }
    let event = json!({"metadata": {"name": "happened"}, "involvedObject": {"namespace": "default"}});
    place.client.post("/api/v1/namespaces/default/events", &event).unwrap().success().unwrap();
    let events = format!("/api/v1/events?{FIRST}");
    let (cached, page) = (format!("{CONFIGMAPS}?{FIRST}"), format!("{CONFIGMAPS}?limit=1&resourceVersion=0"));
    let watch = format!("{CONFIGMAPS}?watch=true&timeoutSeconds=1");

    let answered = answered_requests(&place, |client| {
        for path in [&events, &cached] {
            assert_eq!(client.raw("GET", path, &[], b"").unwrap().status, 200);
        }
        place.handle().set_caches_ready(false);
        for (path, status) in [(&page, 200), (&format!("{CONFIGMAPS}?resourceVersion=0"), 429), (&watch, 429)] {
            assert_eq!(client.raw("GET", path, &[], b"").unwrap().status, status, "{path}");
        }
    });

    let refused = json!({"Rejected": {"status": 429, "etcd_touched": false}});
    let expected = [
        ("events", json!("Etcd"), "uncached-resource", "Predicted"),
        ("configmaps", json!("Cache"), "list-rv0", "Predicted"),
        ("configmaps", json!("Etcd"), "shown-by-answer", "Confirmed"),
        ("configmaps", refused.clone(), "list-not-ready-refused", "Confirmed"),
        ("configmaps", refused, "watch-not-ready-refused", "Confirmed"),
    ];
    assert_eq!(answered.len(), expected.len(), "{answered:#?}");
    for (answered, (resource, layer, rule, certainty)) in answered.iter().zip(expected) {
        let verdict = &answered["verdict"];
        let said = (&answered["resource"], &verdict["served_from"], &verdict["rule"], &verdict["certainty"]);
        assert_eq!(said, (&json!(resource), &layer, &json!(rule), &json!(certainty)));
    }
}

/// The answered requests of a client that `ask` sends through watchtap.
fn answered_requests(place: &DemoFixture, ask: impl FnOnce(&Client)) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let (kubeconfig, events) = (folder.path().join("kubeconfig"), folder.path().join("events"));
    fs::write(&kubeconfig, place.server.kubeconfig()).unwrap();
    let watchtap = RunSession::start(&kubeconfig, &["--grace", "0s", "--events", events.to_str().unwrap()]).unwrap();
    let front = watchtap.listening().unwrap();
    let client = Client::of_server(&format!("https://{}", front.address), &front.authority, place.server.token()).unwrap();
    ask(&client);
    watchtap.finish().unwrap();
    let text = fs::read_to_string(events).unwrap();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["verdict"].is_object()).collect()
}
