//! Each filter in the cargo commands of the test groups matches a test. After a renaming, a filter without one would move its tests to
//! another group, or would run none.

use super::tree::{SourceFile, Tree};
use crate::test::{Extent, Group, Kernels, MINORS, Matrix};

/// The filters of a cargo command: module paths and parts of names, after `--`.
fn filters(call: &[String]) -> impl Iterator<Item = &str> {
    let words = call.iter().map(String::as_str).skip_while(|word| *word != "--");
    words.filter(|word| !word.starts_with("--") && word.parse::<u32>().is_err())
}

/// Whether a module or a function in `files` has a name that `filter` selects.
fn matches(filter: &str, files: &[&SourceFile]) -> bool {
    let is_selected = |line: &str| match filter.strip_suffix("::") {
        Some(module) => line.trim() == format!("mod {module};"),
        None => line.contains(filter) && ["fn ", "mod "].iter().any(|item| line.contains(item)),
    };
    files.iter().any(|file| file.text.lines().any(is_selected))
}

#[test]
fn filters_of_groups_match_tests() {
    let tree = Tree::read();
    let files = tree.rust_files_below("tests/");
    for group in Group::ALL {
        for call in group.cargo_calls(Extent::Everything, &Matrix::of(&MINORS), &Kernels::all()) {
            for filter in filters(&call) {
                assert!(matches(filter, &files), "no test of the group {} matches `{filter}`: name the new one", group.name());
            }
        }
    }
}

#[test]
fn filters_without_a_test_are_caught() {
    let file = SourceFile::new("tests/kernel/main.rs", "mod cgroups;\nfn probing_bench_compares() {}\n// libraries::\n");
    let found = |filter: &str| matches(filter, &[&file]);
    assert_eq!(["cgroups::", "probing_bench"].map(found), [true, true]);
    assert_eq!(["cgroup::", "libraries::", "clients_under_probes"].map(found), [false, false, false]);
}

#[test]
fn flags_and_numbers_are_no_filters() {
    let call = ["--test", "kernel", "--", "--skip", "loss::", "--test-threads", "1"].map(str::to_owned);
    assert_eq!(filters(&call).collect::<Vec<_>>(), ["loss::"]);
}
