//! Tests that all encodings of a real API server give the same facts when read through watchtap.
//!
//! CBOR needs a gate (alpha in 1.32 to 1.34). Tables exist in JSON only, and custom resources in protobuf only as their metadata.

use std::time::{Duration, Instant};

use observer_core::wire::{BodyKind, BodyReader, EventType, Fact};
use observer_tests::{Client, Cluster, HeldExec, Options};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(30);
const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const CBOR: &str = "application/cbor";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/encodings/widgets";

#[test]
fn every_encoding_yields_the_same_report_as_json() {
    let options =
        Options { api_server_arguments: vec!["--feature-gates=CBORServingAndStorage=true".to_owned()], ..Options::default() };
    let cluster = Cluster::start(&options).unwrap();
    fill(&cluster);
    let address = ([127, 0, 0, 1], cluster.port()).into();
    let watchtap = HeldExec::before(address, cluster.ca_pem(), cluster.admin_token(), &[]).unwrap();
    let server = format!("https://{}", watchtap.address().unwrap());
    let client = Client::of_server(&server, &watchtap.ca_pem().unwrap(), cluster.admin_token()).unwrap();

    let mut items = Vec::new();
    let as_metadata = |media_type: &str| format!("{media_type};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
    for (path, others) in [
        ("/api/v1/namespaces/encodings/configmaps", vec![PROTOBUF.to_owned(), CBOR.to_owned()]),
        ("/api/v1/namespaces/encodings/configmaps?limit=7", vec![PROTOBUF.to_owned(), CBOR.to_owned()]),
        ("/api/v1/namespaces/encodings/secrets", vec![PROTOBUF.to_owned(), CBOR.to_owned()]),
        ("/api/v1/namespaces/encodings/pods", vec![PROTOBUF.to_owned(), CBOR.to_owned()]),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles", vec![PROTOBUF.to_owned(), CBOR.to_owned()]),
        (
            "/api/v1/namespaces/encodings/configmaps",
            vec![as_metadata(PROTOBUF), as_metadata(CBOR), format!("{JSON};as=Table;g=meta.k8s.io;v=v1")],
        ),
        (WIDGETS, vec![CBOR.to_owned(), as_metadata(PROTOBUF)]),
    ] {
        let plain = facts_of(&client, path, JSON, BodyKind::Document);
        for accept in others {
            let other = facts_of(&client, path, &accept, BodyKind::Document);
            assert_eq!(identities(&other), identities(&plain), "{path} as {accept}");
            items.push(identities(&plain).len());
        }
        items.push(identities(&plain).len());
    }
    for accept in [PROTOBUF, CBOR] {
        let path = "/api/v1/namespaces/encodings/configmaps/none";
        assert_eq!(
            statuses(&facts_of(&client, path, accept, BodyKind::Document)),
            statuses(&facts_of(&client, path, JSON, BodyKind::Document))
        );
        for resource in ["/api/v1/namespaces/encodings/configmaps", WIDGETS] {
            let path = format!(
                "{resource}?watch=1&timeoutSeconds=1&resourceVersion=0&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true"
            );
            let plain = frames(&facts_of(&client, &path, JSON, BodyKind::Watch));
            assert!(plain.len() > 3, "{plain:?}");
            if resource != WIDGETS || accept == CBOR {
                assert_eq!(frames(&facts_of(&client, &path, accept, BodyKind::Watch)), plain, "{path} as {accept}");
            }
        }
    }

    watchtap.wait_until_idle().unwrap();
    let report = watchtap.finish().unwrap();
    assert!(report["missed"]["bodies"].as_object().is_none_or(serde_json::Map::is_empty), "{:#}", report["missed"]);
    let lists = report["requests"].as_array().unwrap().iter().filter(|request| request["verb"] == "list");
    let mut counted: Vec<usize> = lists.map(|list| list["items"].as_u64().unwrap().try_into().unwrap()).collect();
    counted.sort_unstable();
    items.sort_unstable();
    assert_eq!(counted, items);
}

/// Creates objects of every kind under test.
fn fill(cluster: &Cluster) {
    cluster.create_configmaps("encodings", 30).unwrap();
    let client = cluster.client();
    let started = Instant::now();
    // A new custom resource is not served immediately, and then its storage is not ready.
    let create = |path: &str, object: &Value| {
        let response = std::iter::repeat_with(|| client.post(path, object).unwrap())
            .find(|response| !matches!(response.status, 404 | 429) || started.elapsed() > LIMIT);
        response.unwrap().success().unwrap()
    };
    let environment: Vec<Value> =
        (0..40).map(|number| json!({"name": format!("V{number}"), "value": "metadata: {name: no}"})).collect();
    let container = json!({"name": "server", "image": "example/server:1", "env": environment});
    create("/api/v1/namespaces/encodings/pods", &json!({"metadata": {"name": "one"}, "spec": {"containers": [container]}}));
    create("/api/v1/namespaces/encodings/secrets", &json!({"metadata": {"name": "one"}, "stringData": {"token": "k8s canary"}}));
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    });
    create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
    for number in 0..5 {
        let widget = json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": format!("w{number}")},
            "spec": {"metadata": {"name": "no"}, "items": [1, 2.5, true, null]},
        });
        create(WIDGETS, &widget);
    }
}

/// The facts that watchtap's own reader finds in an answer that came through watchtap.
#[track_caller]
fn facts_of(client: &Client, path: &str, accept: &str, kind: BodyKind) -> Vec<Fact> {
    let response = client.raw("GET", path, &[("Accept", accept)], b"").unwrap();
    let content_type = response.headers["content-type"].to_str().unwrap();
    let essence = accept.split(';').next().unwrap();
    assert!(content_type.starts_with(essence), "asked for {accept}, got {content_type}: {}", response.text());
    let mut facts = Vec::new();
    let mut reader = BodyReader::new(kind, content_type, "").unwrap();
    response.body.chunks(1000).for_each(|chunk| reader.push(chunk, &mut |fact| facts.push(fact)));
    reader.finish(&mut |fact| facts.push(fact));
    let malformed = facts.iter().find(|fact| matches!(fact, Fact::Malformed { .. }));
    assert!(malformed.is_none(), "{malformed:?} in {path} as {accept}");
    facts
}

fn identities(facts: &[Fact]) -> Vec<String> {
    facts.iter().filter_map(|fact| if let Fact::Item(item) = fact { Some(format!("{item:?}")) } else { None }).collect()
}

fn statuses(facts: &[Fact]) -> Vec<String> {
    facts.iter().filter_map(|fact| if let Fact::Status(status) = fact { Some(format!("{status:?}")) } else { None }).collect()
}

/// The events without trailing bookmarks, whose time does not depend on the test.
fn frames(facts: &[Fact]) -> Vec<String> {
    let mut events: Vec<String> = facts
        .iter()
        .filter_map(|fact| if let Fact::Frame(frame) = fact { Some(frame) } else { None })
        .filter(|frame| frame.event_type != EventType::Bookmark || frame.initial_events_end)
        .map(|frame| format!("{:?} {} {} {}", frame.event_type, frame.object.name, frame.object.uid, frame.initial_events_end))
        .collect();
    events.sort();
    events
}
