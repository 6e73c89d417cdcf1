//! Rule: a release contains no injected faults. The feature for them is named only in files that define, guard and test it.

use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

/// The name is in two parts, so that this file does not break its own rule.
const FEATURE: &str = concat!("injected", "-faults");
/// The only files that may name it.
const KNOWN: [&str; 5] =
    ["observer/Cargo.toml", "observer/src/injected_fault.rs", "tests/Cargo.toml", "xtask/src/ci.rs", "xtask/src/test/group.rs"];
/// The code that makes a release build with the feature fail.
const GUARD: &str = "not(debug_assertions)))]\ncompile_error!(";

fn named_elsewhere(file: &SourceFile) -> Vec<Violation> {
    let is_code = [".rs", ".toml", "run"].iter().any(|end| file.path.ends_with(end));
    if !is_code || KNOWN.contains(&file.path.as_str()) {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate().filter(|(_, line)| line.contains(FEATURE));
    lines.map(|(index, _)| Violation::at(file, index + 1, "the feature that injects faults")).collect()
}

/// Violations: a manifest that enables the feature by default.
fn enabled_by_default(manifest: &SourceFile) -> Vec<Violation> {
    let defaults = manifest.text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim_start();
        let is_dependency = line.contains("features = [") && !line.starts_with("required-features");
        line.contains(FEATURE) && (line.starts_with("default") || is_dependency)
    });
    defaults.map(|(index, _)| Violation::at(manifest, index + 1, "faults for everybody")).collect()
}

#[test]
fn faults_are_injected_into_tests_only() {
    let tree = Tree::read();
    let manifests = ["observer/Cargo.toml", "tests/Cargo.toml"].map(|path| tree.file(path));
    let violations: Vec<_> =
        tree.files().iter().flat_map(named_elsewhere).chain(manifests.into_iter().flat_map(enabled_by_default)).collect();
    assert_none(&violations, "no build but that of `--test panics` may have it: a client could bring observing down");
    let guarded = &tree.file("observer/src/injected_fault.rs").text;
    assert!(guarded.contains(GUARD), "a release build with the feature must not compile");
}

#[test]
fn other_uses_are_caught() {
    let elsewhere = format!("fn run() {{\n    cargo(\"--features {FEATURE}\");\n}}");
    assert_found(&named_elsewhere(&SourceFile::new("xtask/src/run.rs", &elsewhere)), &["2: the feature that injects faults"]);
    assert_found(&named_elsewhere(&SourceFile::new("docs/x.md", &elsewhere)), &[]);
    let manifest = format!("[features]\ndefault = [\"{FEATURE}\"]\n{FEATURE} = []\n[d]\nw = {{ features = [\"{FEATURE}\"] }}");
    assert_found(
        &enabled_by_default(&SourceFile::new("observer/Cargo.toml", &manifest)),
        &["2: faults for everybody", "5: faults for everybody"],
    );
}
