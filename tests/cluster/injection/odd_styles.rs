//! Manifests in styles that people and programs write: each is injected exactly, or refused with a reason and left as it was.

use std::fs;
use std::path::{Path, PathBuf};

use super::round_trip::{RoundTrip, round_trips};

/// The expected result of a style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Becomes {
    /// Block style and JSON, however they are laid out.
    Injected,
    /// Either: the text cannot be edited in every case without a change of what is around.
    InjectedOrRefused,
    /// Nothing in it has a pod.
    Unchanged,
}
use Becomes::{Injected, InjectedOrRefused, Unchanged};

#[test]
fn every_style_is_injected_exactly_or_refused() {
    let styles = styles();
    let trips = round_trips(styles.iter().map(|(name, _, text)| ((*name).to_owned(), text.clone())).collect());
    let complaints: Vec<String> = styles
        .iter()
        .zip(&trips)
        .flat_map(|((name, becomes, _), trip)| {
            let complaints = trip.complaints().into_iter().chain(outcome(name, *becomes, trip));
            complaints.map(move |complaint| format!("{name}: {complaint}"))
        })
        .collect();
    let injected = trips.iter().filter(|trip| trip.is_injected()).count();
    println!("{injected} of {} styles are injected", trips.len());
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn every_file_of_a_style_is_used() {
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(STYLES.iter().any(|(style, _)| *style == name), "{name} is in no row");
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster/injection/styles")
}

fn styles() -> Vec<(&'static str, Becomes, String)> {
    let files = STYLES.iter().map(|(name, becomes)| (*name, *becomes, fs::read_to_string(folder().join(name)).unwrap()));
    files.chain(INVISIBLE.iter().map(|(name, becomes, text)| (*name, *becomes, (*text).to_owned()))).collect()
}

fn outcome(name: &str, becomes: Becomes, trip: &RoundTrip) -> Option<String> {
    let run = &trip.run;
    let fits = match becomes {
        Injected => trip.is_injected() && run.code == Some(0),
        InjectedOrRefused if trip.is_injected() => run.code == Some(0),
        InjectedOrRefused => run.code != Some(0) && run.stderr.contains(name),
        Unchanged => run.stdout == trip.text && run.code == Some(0),
    };
    (!fits).then(|| format!("not {becomes:?}, but exit code {:?}: {}", run.code, run.stderr))
}

/// Texts in the folder `styles`, and what becomes of each.
const STYLES: &[(&str, Becomes)] = &[
    ("four-spaces.yaml", Injected),
    ("six-spaces-in-one-place.yaml", Injected),
    ("sequence-not-indented.yaml", Injected),
    ("dash-alone-in-its-line.yaml", Injected),
    ("directive-and-document-end.yaml", InjectedOrRefused),
    ("words-at-separators.yaml", Injected),
    ("separator-in-a-literal.yaml", Injected),
    ("comments-everywhere.yaml", Injected),
    ("blank-lines-everywhere.yaml", Injected),
    ("keys-in-quotes.yaml", Injected),
    ("spaces-before-colons.yaml", Injected),
    ("explicit-keys.yaml", InjectedOrRefused),
    ("tags.yaml", InjectedOrRefused),
    ("flow-in-a-line.yaml", InjectedOrRefused),
    ("flow-containers.yaml", InjectedOrRefused),
    ("flow-over-lines.yaml", InjectedOrRefused),
    ("empty-flow-lists.yaml", Injected),
    ("nulls.yaml", Injected),
    ("anchor-of-a-value.yaml", InjectedOrRefused),
    ("anchor-of-the-environment.yaml", InjectedOrRefused),
    ("anchor-of-a-container.yaml", InjectedOrRefused),
    ("anchor-of-a-template.yaml", InjectedOrRefused),
    ("alias-of-a-list-below.yaml", InjectedOrRefused),
    ("merge-of-a-pod.yaml", InjectedOrRefused),
    ("keys-in-another-order.yaml", Injected),
    ("multi-line-scalars.yaml", Injected),
    ("key-like-text.yaml", Injected),
    ("not-latin.yaml", Injected),
    // Readers of YAML 1.1, such as kubectl, end a line at them.
    ("line-ends-of-unicode.yaml", InjectedOrRefused),
    ("generate-name.yaml", Injected),
    ("no-metadata-in-template.yaml", Injected),
    ("template-is-last-and-first.yaml", Injected),
    ("lists-in-lists.yaml", Injected),
    ("list-of-one-kind.yaml", Injected),
    ("json-in-a-line.json", Injected),
    ("json-with-tabs.json", Injected),
    ("json-documents-one-after-another.json", Injected),
    ("json-between-yaml.yaml", InjectedOrRefused),
    ("json-escapes.json", Injected),
    ("only-separators.yaml", Unchanged),
    ("not-of-kubernetes.yaml", Unchanged),
    ("kinds-without-pods.yaml", Unchanged),
    ("kind-of-another-group.yaml", Unchanged),
];

/// Texts that an editor or git might change.
const INVISIBLE: &[(&str, Becomes, &str)] = &[
    (
        "no-last-line-ending.yaml",
        Injected,
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: app\nspec:\n  containers:\n  - name: app\n    image: a",
    ),
    (
        "crlf-without-a-last-one.yaml",
        Injected,
        "apiVersion: v1\r\nkind: Pod\r\nmetadata:\r\n  name: app\r\nspec:\r\n  containers:\r\n\
         \x20 - name: app\r\n    image: a",
    ),
    (
        "mixed-line-endings.yaml",
        Injected,
        "apiVersion: v1\r\nkind: Pod\nmetadata:\n  name: app\r\nspec:\n  containers:\r\n  - name: app\n\
         \x20   image: a\r\n",
    ),
    (
        "spaces-at-line-ends.yaml",
        Injected,
        "apiVersion: v1  \nkind: Pod \nmetadata:  \n  name: app\t\nspec:   \n  containers:  \n\
         \x20 - name: app  \n    image: a   \n   \n",
    ),
    (
        "byte-order-mark.yaml",
        InjectedOrRefused,
        "\u{feff}apiVersion: v1\nkind: Pod\nmetadata:\n  name: app\nspec:\n  containers:\n  - name: app\n\
         \x20   image: a\n",
    ),
    (
        "null-at-the-end.yaml",
        Injected,
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: app\nspec:\n  containers:\n  - name: app\n\
         \x20   image: a\n    env:",
    ),
    ("empty.yaml", Unchanged, ""),
    ("only-comments.yaml", Unchanged, "# a\n\n# b"),
];
