//! Rule: the demo API server does not use watchtap's conclusions. A demo built on our own verdicts would confirm itself.

use super::references::references;
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

const DEMO: &str = "observer/src/demo/";

/// The only module of the core that the demo may use: it parses requests, but does not decide which layer answers them.
const ALLOWED: &str = "k8s";

fn violations(file: &SourceFile) -> Vec<Violation> {
    if !file.path.starts_with(DEMO) {
        return Vec::new();
    }
    let uses = references(file);
    let forbidden = uses.iter().filter(|reference| {
        let core = matches!(reference.segments.as_slice(), ["observer_core", module, ..] if *module != ALLOWED);
        let whole_core = matches!(reference.segments.as_slice(), ["observer_core"]);
        let shell = matches!(reference.segments.as_slice(), ["crate", "observing" | "intake" | "view", ..]);
        core || whole_core || shell
    });
    forbidden.map(|reference| Violation::at(file, reference.line, format!("the demo uses `{}`", reference.path()))).collect()
}

#[test]
fn demo_does_not_know_what_watchtap_concludes() {
    let tree = Tree::read();
    let files = tree.rust_files_below("observer/src/");
    assert!(
        files.iter().any(|file| file.path.starts_with(DEMO)),
        "{DEMO} is missing: did the demo move? Then this rule must follow it"
    );
    let violations: Vec<_> = files.into_iter().flat_map(violations).collect();
    assert_none(
        &violations,
        "the demo decides by rules of its own which layer answers; of the core it may use `k8s` to read requests, and nothing that \
         routes, observes or shows",
    );
}

#[test]
fn conclusions_in_the_demo_are_caught() {
    let text = "use observer_core::routing::Verdict;\nuse observer_core::k8s::Verb;\nuse observer_core::{exchange, k8s};\nuse crate::view::Report;";
    let expected = [
        "1: the demo uses `observer_core::routing::Verdict`",
        "3: the demo uses `observer_core::exchange`",
        "4: the demo uses `crate::view::Report`",
    ];
    assert_found(&violations(&SourceFile::new("observer/src/demo/cache/layer.rs", text)), &expected);
    assert_found(&violations(&SourceFile::new("observer/src/cli/demo.rs", text)), &[]);
}
