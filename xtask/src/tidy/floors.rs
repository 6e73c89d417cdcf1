//! Rule: inside the core a module uses modules of strictly lower floors only. This includes a module's tests, because they document
//! it.

use super::references::{Reference, references};
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

/// The modules of the core from the bottom up, as ARCHITECTURE.md explains them.
const FLOORS: &[&[&str]] = &[
    &["k8s", "left_out", "logs", "metrics", "time", "redacted"],
    &["http", "wire", "routing"],
    &["observation", "verification"],
    &["exchange"],
    &["reflector"],
    &["capture", "storm"],
    &["observer"],
];

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|modules| modules.contains(&module))
}

/// The crate's root is above all floors, because it names them.
fn upward_uses(file: &SourceFile) -> Vec<Violation> {
    let Some(&module) = file.module().first() else { return Vec::new() };
    let Some(own_floor) = floor(module) else {
        return vec![Violation::of(file, format!("module `{module}` has no floor"))];
    };
    let uses = references(file);
    uses.iter().filter_map(|reference| upward(file, module, own_floor, reference)).collect()
}

fn upward(file: &SourceFile, module: &str, own_floor: usize, reference: &Reference<'_>) -> Option<Violation> {
    let ["crate", target, ..] = reference.segments.as_slice() else { return None };
    if *target == module {
        return None;
    }
    let what = match floor(target) {
        Some(floor) if floor < own_floor => return None,
        Some(floor) => format!("`{module}` (floor {own_floor}) uses `{}` (floor {floor})", reference.path()),
        None => format!("`{}` leads to no floor", reference.path()),
    };
    Some(Violation::at(file, reference.line, what))
}

#[test]
fn modules_of_the_core_use_lower_floors_only() {
    let tree = Tree::read();
    let files = tree.rust_files_below("observer/core/src/");
    for module in ["k8s", "time", "http", "wire"] {
        assert!(files.iter().any(|file| file.module().first() == Some(&module)), "the core has no module `{module}`");
    }
    let violations: Vec<_> = files.into_iter().flat_map(upward_uses).collect();
    assert_none(
        &violations,
        "move what is shared to a lower floor, or pass it as an argument; a new module gets its floor in xtask/src/tidy/floors.rs and \
         ARCHITECTURE.md",
    );
}

#[test]
fn upward_and_sideways_uses_are_caught() {
    let text = "use crate::k8s::Verb;\nuse crate::exchange::Exchange;\nuse super::super::wire;\nuse super::field::Field;\nuse crate::Verdict;";
    let file = SourceFile::new("observer/core/src/http/event.rs", text);
    assert_found(
        &upward_uses(&file),
        &[
            "2: `http` (floor 1) uses `crate::exchange::Exchange` (floor 3)",
            "3: `http` (floor 1) uses `crate::wire` (floor 1)",
            "5: `crate::Verdict` leads to no floor",
        ],
    );
}

#[test]
fn module_without_a_floor_is_caught() {
    let file = SourceFile::new("observer/core/src/manager/mod.rs", "");
    assert_found(&upward_uses(&file), &["module `manager` has no floor"]);
}

#[test]
fn root_of_the_core_may_name_every_floor() {
    let file = SourceFile::new("observer/core/src/lib.rs", "pub use crate::observer::Observer;");
    assert_found(&upward_uses(&file), &[]);
}
