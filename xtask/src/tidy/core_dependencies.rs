//! Rule: the core depends only on the crates listed here, and none of these depends on a crate that does I/O.

use std::collections::BTreeSet;

use super::cargo_tree::{Depth, dependencies};
use super::tree::Tree;

/// The allowed direct dependencies of `observer-core`.
const ALLOWED: &[&str] = &[
    "base64",
    "bytes",
    "fearless_simd",
    "flate2",
    "foldhash",
    "hdrhistogram",
    "http",
    "humantime",
    "memchr",
    "percent-encoding",
    "serde",
    "serde_json",
    "thiserror",
];

/// Crates that must not be dependencies at any depth.
const FORBIDDEN: &[&str] =
    &["aya", "clap", "h2", "hyper", "kube", "mio", "openssl", "rand", "ring", "rustix", "rustls", "socket2", "tokio", "tracing"];

/// Dependencies that are not listed, and listed ones that are no longer used.
fn differences(found: &BTreeSet<String>, allowed: &[&str]) -> Vec<String> {
    let added = found.iter().filter(|name| !allowed.contains(&name.as_str())).map(|name| format!("{name} is not on the list"));
    let gone = allowed.iter().filter(|name| !found.contains(**name)).map(|name| format!("{name} is on the list but not used"));
    added.chain(gone).collect()
}

#[test]
fn core_depends_on_the_listed_crates_only() {
    let found = dependencies("observer-core", "normal,build", Depth::Direct);
    let differences = differences(&found, ALLOWED);
    assert!(
        differences.is_empty(),
        "\n\n{}\n\na dependency of the core is a design change: it has its own commit and a sentence why, and stands in {}\n",
        differences.join("\n"),
        file!()
    );
}

#[test]
fn core_pulls_in_no_io_crates() {
    let found = dependencies("observer-core", "normal,build", Depth::Whole);
    assert!(found.contains("itoa"), "the tree of the core does not go below its direct dependencies: {found:?}");
    let forbidden: Vec<_> = FORBIDDEN.iter().filter(|name| found.contains(**name)).collect();
    assert!(
        forbidden.is_empty(),
        "the core pulls in {forbidden:?}; `cargo tree -p observer-core -i NAME` says through which crate"
    );
}

#[test]
fn core_has_the_same_dependencies_on_every_platform() {
    let tree = Tree::read();
    let manifest = &tree.file("observer/core/Cargo.toml").text;
    assert!(!manifest.contains("[target."), "the core is the same everywhere; what differs by platform belongs into `observer`");
}

#[test]
fn added_and_unused_dependencies_are_caught() {
    let found = BTreeSet::from(["bytes".into(), "tokio".into()]);
    assert_eq!(differences(&found, &["bytes", "http"]), ["tokio is not on the list", "http is on the list but not used"]);
}
