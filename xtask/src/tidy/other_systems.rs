//! Rule: watchtap has its Linux-only dependencies only on Linux, so that it also builds on developers' machines with other systems.

use std::collections::BTreeSet;

use super::cargo_tree::dependencies_for;

/// The released package.
const PRODUCT: &str = "observer";
/// Crates that build only on Linux, or are useful only on Linux.
const LINUX_ONLY: [&str; 9] = [
    "aya",
    "aya-obj",
    "btfparse",
    "linux-raw-sys",
    "netlink-packet-core",
    "netlink-packet-sock-diag",
    "netlink-sys",
    "procfs",
    "procfs-core",
];
const LINUX: &str = "aarch64-unknown-linux-gnu";
const OTHERS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-apple-darwin"];

fn linux_only(found: &BTreeSet<String>) -> Vec<&'static str> {
    LINUX_ONLY.into_iter().filter(|name| found.contains(*name)).collect()
}

#[test]
fn other_systems_need_no_linux_only_crates() {
    for target in OTHERS {
        let found = linux_only(&dependencies_for(PRODUCT, target));
        assert!(
            found.is_empty(),
            "for {target} watchtap needs {found:?}, which do not build there: name them below \
             [target.'cfg(target_os = \"linux\")'.dependencies] of observer/Cargo.toml, and what calls them behind the same cfg"
        );
    }
}

#[test]
fn each_listed_linux_only_crate_is_still_used() {
    let found = linux_only(&dependencies_for(PRODUCT, LINUX));
    assert_eq!(found, LINUX_ONLY, "take from the list in {} what watchtap no longer needs", file!());
}

#[test]
fn linux_only_crate_is_caught() {
    assert_eq!(linux_only(&BTreeSet::from(["procfs".into(), "rustix".into(), "tokio".into()])), ["procfs"]);
}
