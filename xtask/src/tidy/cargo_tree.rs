//! A package's dependencies, as reported by `cargo tree`.

use std::collections::BTreeSet;

use crate::workspace;

/// The depth to which the tree is followed.
#[derive(Clone, Copy)]
pub(crate) enum Depth {
    Direct,
    Whole,
}

/// The names of the dependencies of `package` over these edges (`normal`, `build`, `dev`), on this platform and with all features.
#[track_caller]
pub(crate) fn dependencies(package: &str, edges: &str, depth: Depth) -> BTreeSet<String> {
    let depth = match depth {
        Depth::Direct => ["--depth", "1"].as_slice(),
        Depth::Whole => &[],
    };
    tree(package, edges, depth)
}

/// The dependencies of `package` when built for `target`, at any depth and with all features. Cargo downloads those that only
/// `target` needs.
#[track_caller]
pub(crate) fn dependencies_for(package: &str, target: &str) -> BTreeSet<String> {
    tree(package, "normal", &["--target", target])
}

#[track_caller]
fn tree(package: &str, edges: &str, more: &[&str]) -> BTreeSet<String> {
    let mut cargo = workspace::cargo();
    cargo.args(["tree", "--locked", "--package", package, "--edges", edges, "--prefix", "none", "--all-features"]).args(more);
    let output = cargo.output().expect("cargo starts");
    assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    names(&String::from_utf8_lossy(&output.stdout))
}

/// Parses the tree: each line has one package and begins with its name. The first line is the queried package.
fn names(tree: &str) -> BTreeSet<String> {
    tree.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(String::from).collect()
}

#[test]
fn each_dependency_is_named_once() {
    let tree = "core v0.1.0 (somewhere)\nbytes v1.12.1\nhttp v1.5.0\nbytes v1.12.1 (*)\n";
    assert_eq!(names(tree), BTreeSet::from(["bytes".into(), "http".into()]));
}
