//! Ways to inject and to compare, for the tests beside this file.

use crate::injection::{Edited, Edits, Manifest, Options, Outcome, Referenced};

/// A Deployment with these lines in the spec of its pod.
pub(super) fn deployment(spec: &str) -> String {
    let spec: String = spec.lines().flat_map(|line| ["      ", line, "\n"]).collect();
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    metadata:\n      labels: {{app: web}}\n    spec:\n{spec}"
    )
}

pub(super) fn options() -> Options {
    Options { assume_token: true, ..Options::with_image("localhost/watchtap:1") }
}

#[track_caller]
pub(super) fn inject_with(text: &str, options: &Options) -> Edited {
    let mut referenced = Referenced::default();
    let manifest = Manifest::read(text, &mut referenced).unwrap();
    manifest.inject(options, &referenced)
}

#[track_caller]
pub(super) fn inject(text: &str) -> Edited {
    inject_with(text, &options())
}

#[track_caller]
pub(super) fn uninject(text: &str) -> Edited {
    Manifest::read(text, &mut Referenced::default()).unwrap().uninject(Edits::Keep)
}

/// Injects, and checks that this is idempotent and can be reversed.
#[track_caller]
pub(super) fn injected(text: &str) -> String {
    injected_with(text, &options())
}

#[track_caller]
pub(super) fn injected_with(text: &str, options: &Options) -> String {
    let once = inject_with(text, options);
    for object in &once.objects {
        assert!(matches!(object.outcome, Outcome::Injected { .. }), "{object:?}\n{text}");
    }
    assert_ne!(once.text, text);
    let twice = inject_with(&once.text, options);
    assert_eq!(twice.text, once.text, "injecting twice");
    assert!(twice.objects.iter().all(|object| matches!(object.outcome, Outcome::UpToDate { .. })), "{:?}", twice.objects);
    assert_eq!(uninject(&once.text).text, text, "uninjecting");
    once.text
}

/// The lines that differ, with the record left out.
pub(super) fn difference(before: &str, after: &str) -> String {
    let after: Vec<&str> = after.lines().collect();
    let mut out = String::new();
    let mut at = 0;
    for line in before.lines() {
        match after.get(at..).unwrap_or_default().iter().position(|other| *other == line) {
            Some(skipped) => {
                after[at..at + skipped].iter().for_each(|added| push(&mut out, '+', added));
                at += skipped + 1;
            }
            None => push(&mut out, '-', line),
        }
    }
    after.get(at..).unwrap_or_default().iter().for_each(|added| push(&mut out, '+', added));
    out
}

fn push(out: &mut String, sign: char, line: &str) {
    let line = line
        .split_once("watchtap.dev/injected: ")
        .map_or_else(|| line.to_owned(), |(indent, _)| format!("{indent}watchtap.dev/injected: …"));
    out.push(sign);
    out.push_str(&line);
    out.push('\n');
}

/// The reason and the remedy for the only object, which stays as it is.
#[track_caller]
pub(super) fn refusal(text: &str, options: &Options) -> String {
    let edited = inject_with(text, options);
    assert_eq!(edited.text, text, "a refused object stays as it is");
    let [object] = edited.objects.as_slice() else { panic!("{:?}", edited.objects) };
    let Outcome::Refused(refusal) = &object.outcome else { panic!("{object:?}\n{text}") };
    format!("{}; {}", refusal.reason, refusal.remedy)
}
