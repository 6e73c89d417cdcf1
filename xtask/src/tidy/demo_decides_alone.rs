//! Rule: the demo API server does not use watchtap's conclusions. A demo that used watchtap's verdicts could only confirm them.

use super::cargo_tree::{Depth, dependencies};
use super::references::references;
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

const DEMO: &str = "observer/demo/";

/// The only module of the core that the demo may use: it parses requests, but does not decide which layer answers them.
const ALLOWED: &str = "k8s";

/// The packages of this workspace that the demo may depend on.
const PACKAGES: &[&str] = &["observer-core", "observer-pki"];

fn violations(file: &SourceFile) -> Vec<Violation> {
    if !file.path.starts_with(DEMO) {
        return Vec::new();
    }
    let uses = references(file);
    let forbidden = uses.iter().filter(|reference| match reference.segments.as_slice() {
        ["observer_core", module, ..] => *module != ALLOWED,
        ["observer_core"] => true,
        _ => false,
    });
    forbidden.map(|reference| Violation::at(file, reference.line, format!("the demo uses `{}`", reference.path()))).collect()
}

#[test]
fn demo_does_not_use_watchtap_conclusions() {
    let tree = Tree::read();
    let violations: Vec<_> = tree.rust_files_below(DEMO).into_iter().flat_map(violations).collect();
    assert_none(
        &violations,
        "the demo decides by rules of its own which layer answers; of the core it may use `k8s` to read requests, and nothing that \
         routes, observes or shows",
    );
}

#[test]
fn demo_does_not_depend_on_the_shell() {
    let found = dependencies("observer-demo", "normal,build", Depth::Direct);
    let ours: Vec<_> = found.iter().filter(|name| name.starts_with("observer")).collect();
    assert_eq!(ours, PACKAGES, "the demo is a server of its own; the shell starts it and taps its connections");
}

#[test]
fn conclusions_in_the_demo_are_caught() {
    let text = "use observer_core::routing::Verdict;\nuse observer_core::k8s::Verb;\nuse observer_core::{exchange, k8s};";
    let expected = ["1: the demo uses `observer_core::routing::Verdict`", "3: the demo uses `observer_core::exchange`"];
    assert_found(&violations(&SourceFile::new("observer/demo/src/cache/layer.rs", text)), &expected);
    assert_found(&violations(&SourceFile::new("observer/src/cli/demo.rs", text)), &[]);
}
