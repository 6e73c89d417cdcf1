//! Tests of selectors: matches and refusals.

use serde_json::json;

use super::*;
use crate::api::find;
use crate::store::Object;

#[test]
fn label_selectors_match_as_upstream() {
    let object = Object::at_revision(json!({"metadata": {"labels": {"app": "web", "tier": "front", "shard": "3"}}}), 1);
    for (selector, expected) in [
        ("", true),
        ("app=web", true),
        ("app==web,tier=front", true),
        ("app!=web", false),
        ("missing!=x", true),
        ("app in (db, web)", true),
        ("app in (db),tier", false),
        ("app notin (db,cache),tier", true),
        ("!app", false),
        ("!missing", true),
        ("missing", false),
        ("shard>2", true),
        ("shard<3", false),
    ] {
        assert_eq!(LabelSelector::parse(selector).unwrap().matches(&object), expected, "{selector}");
    }
}

#[test]
fn broken_label_selectors_are_refused() {
    for selector in ["a=b,", "=b", "a in b)", "a between (b)", "a=b c", "a>x", "!", &"a,".repeat(200)] {
        assert!(LabelSelector::parse(selector).is_err(), "{selector}");
    }
}

#[test]
fn field_selectors_match_as_upstream() {
    let pods = find("", "v1", "pods").unwrap();
    let object = Object::at_revision(json!({"metadata": {"name": "a,b", "namespace": "n"}, "spec": {"nodeName": "node-1"}}), 1);
    for (selector, expected) in [
        ("spec.nodeName=node-1", true),
        ("spec.nodeName!=node-1", false),
        ("status.phase!=Failed,status.phase!=Succeeded", true),
        ("spec.hostNetwork=false", true),
        (r"metadata.name=a\,b", true),
        ("metadata.namespace==n", true),
    ] {
        assert_eq!(FieldSelector::parse(selector).unwrap().matches(&object, pods), expected, "{selector}");
    }
}

#[test]
fn unknown_fields_and_broken_terms_are_refused() {
    let pods = find("", "v1", "pods").unwrap();
    let configmaps = find("", "v1", "configmaps").unwrap();
    let check = |selector: &str, resource| FieldSelector::parse(selector).unwrap().check(resource).unwrap_err();
    assert_eq!(check("spec.color=red", pods), "field label not supported: spec.color");
    assert!(check("data.x=y", configmaps).starts_with("\"data.x\" is not a known field selector"));
    assert!(FieldSelector::parse("nonsense").is_err());
}

#[test]
fn one_object_is_selected_by_name_and_namespace() {
    let selection = |namespace: &str, fields: &str| Selection {
        resource: find("", "v1", "pods").unwrap(),
        namespace: namespace.to_owned(),
        labels: LabelSelector::default(),
        fields: FieldSelector::parse(fields).unwrap(),
    };
    assert_eq!(selection("n", "metadata.name=x").single(), Some("x"));
    assert_eq!(selection("", "metadata.name=x,metadata.namespace=n").single(), Some("x"));
    assert_eq!(selection("", "metadata.name=x").single(), None);
    assert_eq!(selection("n", "metadata.name!=x").single(), None);
}
