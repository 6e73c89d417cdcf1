//! `values.yaml` and the schema have the same values, each with a comment for people, and the value sets of the tests cover them.

use std::collections::BTreeSet;
use std::fs;

use observer_tests::{Helm, HelmRelease, chart};
use serde_json::Value;

use super::objects::{NAME, NAMESPACE, parsed};
use super::value_sets::{VALUE_SETS, ValueFiles};

/// Values that the default leaves open, so that their members are the user's.
const OPEN: [&str; 1] = ["enabled"];

#[test]
fn each_value_is_in_the_schema_and_has_a_comment() {
    let text = read("values.yaml");
    let defaults = parsed(&text).remove(0);
    let schema: Value = serde_json::from_str(&read("values.schema.json")).unwrap();
    let mut of_values = BTreeSet::new();
    leaves("", &defaults, &schema, &mut of_values);
    let mut of_schema = BTreeSet::new();
    members("", &schema, &schema, &defaults, &mut of_schema);
    assert_eq!(of_values, of_schema);
    assert!(of_values.len() > 40, "{of_values:?}");

    let lines: Vec<&str> = text.lines().collect();
    let has_value = |line: &str| !line.trim_start().starts_with('#') && line.contains(": ");
    let without = (0..lines.len()).filter(|at| has_value(lines[*at]) && !has_comment(&lines, *at));
    assert_eq!(without.map(|at| lines[at]).collect::<Vec<_>>(), [""; 0], "no comment above these lines");
}

/// Objects of the schema refuse unknown names, except those whose names are the user's, and `global`, which belongs to all charts.
#[test]
fn each_object_of_the_schema_refuses_unknown_names() {
    let schema: Value = serde_json::from_str(&read("values.schema.json")).unwrap();
    let mut open = Vec::new();
    find_open("", &schema, &mut open);
    assert_eq!(open, ["/properties/global", "/properties/global/properties/image"]);
}

fn find_open(path: &str, schema: &Value, open: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            if members.get("type") == Some(&"object".into()) && members.get("additionalProperties").is_none_or(|more| *more == true)
            {
                open.push(path.to_owned());
            }
            members.iter().for_each(|(name, member)| find_open(&format!("{path}/{name}"), member, open));
        }
        Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| find_open(&format!("{path}/{at}"), item, open)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Without a value of some set, so with its default, the chart makes other objects.
#[test]
fn each_value_has_an_effect() {
    let defaults = parsed(&read("values.yaml")).remove(0);
    let schema: Value = serde_json::from_str(&read("values.schema.json")).unwrap();
    let mut all = BTreeSet::new();
    leaves("", &defaults, &schema, &mut all);
    let files = ValueFiles::create();
    let sets: Vec<Value> = VALUE_SETS.iter().map(|set| parsed(&fs::read_to_string(files.of(set)).unwrap()).remove(0)).collect();
    let helm = Helm::of(HelmRelease::V4).unwrap();
    // Sorted, as the order of kinds that Helm does not know is open.
    let objects = |values: &Value| {
        let file = files.with("effect", &values.to_string()).display().to_string();
        let text = helm.run(&["template", NAME, &chart().display().to_string(), "--namespace", NAMESPACE, "--values", &file]);
        text.map(|text| text.split("---\n").map(str::to_owned).collect::<BTreeSet<String>>())
    };
    let has_effect = |path: &str, set: &Value| {
        let mut without = set.clone();
        let (parent, name) = path.rsplit_once('/').unwrap();
        let members = without.pointer_mut(parent).and_then(Value::as_object_mut);
        // An error is an effect, too: the image is required.
        members.and_then(|members| members.remove(name)).is_some()
            && objects(&without).map_or(true, |objects_without| objects(set).unwrap() != objects_without)
    };
    let without_effect: Vec<&String> = all.iter().filter(|path| !sets.iter().any(|set| has_effect(path, set))).collect();
    assert!(without_effect.is_empty(), "no set of values shows an effect of {without_effect:?}");
}

/// `null` removes a default. The schema refuses that where the templates or the API server need the value.
#[test]
fn each_value_without_a_default_is_refused_by_the_schema_or_left_out() {
    let files = ValueFiles::create();
    let chart = chart().display().to_string();
    let values = files.with("all", ALL_PARTS).display().to_string();
    let mut paths = Vec::new();
    each_path("", &parsed(&read("values.yaml"))[0], &mut paths);
    for release in HelmRelease::ALL {
        let helm = Helm::of(release).unwrap();
        for path in &paths {
            let null = format!("--set={path}=null");
            match helm.run(&["template", NAME, &chart, "--values", &values, &null]) {
                Ok(text) => {
                    let objects = text.split("---\n").filter(|object| object.contains("kind: "));
                    let empty = objects.flat_map(str::lines).find(|line| line.ends_with(": null") || line.ends_with(": "));
                    assert_eq!(empty, None, "{release:?} {path}");
                }
                Err(error) => {
                    let error = error.to_string();
                    assert!(
                        error.contains("schema") || error.contains("image.repository: no image"),
                        "{release:?} {path}: {error}"
                    );
                }
            }
        }
    }
}

/// Values with which all templates are used.
const ALL_PARTS: &str = "
image: {repository: watchtap}
webhook: {certManager: {enabled: true}}
probe: {enabled: true}
controlPlaneProbe: {enabled: true}
networkPolicy: {enabled: true}
podMonitor: {enabled: true}
prometheusRule: {enabled: true}
";

/// The paths of all members, as `--set` has them.
fn each_path(above: &str, value: &Value, paths: &mut Vec<String>) {
    for (name, member) in value.as_object().into_iter().flatten() {
        let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        each_path(&path, member, paths);
        paths.push(path);
    }
}

/// The paths of values that have no members of the schema.
fn leaves(path: &str, value: &Value, schema: &Value, found: &mut BTreeSet<String>) {
    match value.as_object().filter(|members| !members.is_empty() && properties(path, schema).is_some()) {
        Some(members) => members.iter().for_each(|(name, member)| leaves(&format!("{path}/{name}"), member, schema, found)),
        None => drop(found.insert(path.to_owned())),
    }
}

/// The paths of the schema, as deep as the defaults have members.
fn members(path: &str, at: &Value, schema: &Value, defaults: &Value, found: &mut BTreeSet<String>) {
    let at = resolved(at, schema);
    let value = defaults.pointer(path).and_then(Value::as_object);
    match at["properties"].as_object().filter(|_| value.is_some_and(|members| !members.is_empty())) {
        Some(properties) => {
            let used = properties.iter().filter(|(name, _)| !(path.is_empty() && OPEN.contains(&name.as_str())));
            // Optional members of Kubernetes' own types, such as `resources`, are the user's.
            let used = used.filter(|(name, _)| !is_of_kubernetes(path) || value.is_some_and(|members| members.contains_key(*name)));
            used.for_each(|(name, member)| members(&format!("{path}/{name}"), member, schema, defaults, found));
        }
        None => drop(found.insert(path.to_owned())),
    }
}

fn is_of_kubernetes(path: &str) -> bool {
    path.starts_with("/webhook/resources") || path.contains("robe/resources")
}

/// The members that the schema names at a path.
fn properties<'s>(path: &str, schema: &'s Value) -> Option<&'s Value> {
    let mut at = schema;
    for name in path.split('/').skip(1) {
        at = resolved(at, schema)["properties"].get(name)?;
    }
    resolved(at, schema).get("properties")
}

fn resolved<'s>(at: &'s Value, schema: &'s Value) -> &'s Value {
    match at["$ref"].as_str() {
        Some(reference) => schema.pointer(reference.trim_start_matches('#')).unwrap(),
        None => at,
    }
}

/// Whether a line of `values.yaml`, or an object that it is in, has a comment above it.
fn has_comment(lines: &[&str], at: usize) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_key = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let parent = (0..at).rev().find(|above| is_key(lines[*above]) && indent(lines[*above]) < indent(lines[at]));
    let mut above = lines[..at].iter().rev().take_while(|line| line.trim_start().starts_with('#'));
    above.any(|line| line.trim_start().starts_with("# -- ")) || parent.is_some_and(|parent| has_comment(lines, parent))
}

fn read(name: &str) -> String {
    fs::read_to_string(chart().join(name)).unwrap()
}
