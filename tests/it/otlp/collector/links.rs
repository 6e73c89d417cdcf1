//! Spans of relists, and the spans to which they link.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::demo::Event;
use super::story::{STORY, attributes};

/// Connection and stream.
type Exchange = (u64, u64);
/// Trace and span.
type Place = (String, String);

#[test]
fn relists_link_to_the_requests_of_their_events() {
    let spans = STORY.collected.spans().concat();
    let relists: Vec<&Value> = spans.iter().filter(|span| span["name"] == "relist").collect();
    let events: Vec<&Event> = STORY.events_named("relist").collect();
    assert!(events.len() > 3, "{}", events.len());
    assert_eq!(relists.len(), events.len());
    let others = || spans.iter().filter(|span| span["name"] != "relist");
    let by_place: BTreeMap<Place, &Value> = others().map(|span| (place(span), span)).collect();
    assert_eq!(by_place.len(), others().count(), "each span has a place of its own");

    let mut places: BTreeMap<Exchange, Place> = BTreeMap::new();
    let mut present: BTreeMap<&str, usize> = BTreeMap::new();
    for (event, relist) in events.iter().zip(&relists) {
        assert_eq!(attributes(relist)["watchtap.reflector"], event["reflector"]);
        assert_eq!(relist["kind"], 1, "internal: its pages have spans of their own");
        let links = relist["links"].as_array().unwrap().iter().map(|link| (text(&attributes(link)["watchtap.link"]), place(link)));
        let links: BTreeMap<String, Place> = links.collect();
        let expected = [("first-request", "first_request"), ("watch-before", "watch_before"), ("list-before", "list_before")];
        let expected: Vec<(&str, Exchange)> =
            expected.into_iter().filter_map(|(role, field)| Some((role, exchange(event.get(field)?)))).collect();
        assert_eq!(links.len(), expected.len(), "{links:?}, not {expected:?}");
        for (role, target) in expected {
            let linked = &links[role];
            assert_eq!(places.entry(target).or_insert_with(|| linked.clone()), linked, "one place for one request");
            let request = request(target);
            let span = by_place.get(linked);
            assert!(span.is_some() || !is_always_exported(request), "{role} of {event:?} has no span");
            if let Some(span) = span {
                assert_eq!(attributes(span)["k8s.audit_id"], request["audit_id"], "{role}");
                *present.entry(role).or_default() += 1;
            }
        }
    }
    let distinct: BTreeSet<&Place> = places.values().collect();
    assert_eq!(distinct.len(), places.len(), "two requests have two places");
    // The script has slow lists before and within relists, and refused watches before them.
    assert_eq!(present.keys().copied().collect::<Vec<_>>(), ["first-request", "list-before", "watch-before"]);
}

#[test]
fn spans_of_failed_and_slow_requests_are_complete() {
    let spans = STORY.collected.spans().concat();
    let audit_ids: BTreeSet<String> = spans.iter().filter_map(|span| Some(text(attributes(span).get("k8s.audit_id")?))).collect();
    let requests = STORY.events_named("request").chain(STORY.events_named("watch-ended"));
    let expected: Vec<&Event> = requests.filter(|event| is_always_exported(event)).collect();
    assert!(expected.len() > 3, "{}", expected.len());
    let missing: Vec<_> = expected.iter().filter(|event| !audit_ids.contains(&text(&event["audit_id"]))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for span in spans.iter().filter(|span| span["name"] != "relist") {
        assert_eq!(span["kind"], 3, "a client's: {span}");
        let failed = attributes(span).contains_key("error.type");
        assert_eq!(span["status"]["code"].as_u64(), failed.then_some(2), "{span}");
    }
}

/// Whether the span of this request is certainly exported, whatever the sample is.
fn is_always_exported(request: &Event) -> bool {
    let is_watch = request["verb"] == "watch";
    let is_slow = request["total_us"].as_u64().is_some_and(|lasted| lasted > 1_000_000);
    request["status"].as_u64().is_some_and(|status| status >= 400) || (is_slow && !is_watch)
}

/// The event about this request; for a watch, the one about its begin.
#[track_caller]
fn request(target: Exchange) -> &'static Event {
    let is_about = |event: &&Event| {
        let about = ["request", "watch-opened", "watch-ended"].iter().any(|name| event["event"] == *name);
        about && (event["connection"].as_u64(), event["stream"].as_u64()) == (Some(target.0), Some(target.1))
    };
    STORY.events.iter().find(is_about).unwrap_or_else(|| panic!("no event about {target:?}"))
}

fn exchange(field: &Value) -> Exchange {
    let number = |name: &str| field[name].as_u64().unwrap();
    (number("connection"), number("stream"))
}

fn place(span: &Value) -> Place {
    (text(&span["traceId"]), text(&span["spanId"]))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
