//! Rule: inside the core and inside the shell, a module uses modules of strictly lower floors only. So there is no cyclic
//! dependency between modules. In the core, this includes tests, because they document their module. In the shell, tests may use
//! higher modules, for example to check the output of a view.

use super::references::{Reference, references};
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

/// A crate whose modules are sorted into floors, as ARCHITECTURE.md describes.
struct House {
    /// Folder of its sources.
    sources: &'static str,
    /// Its modules on each floor, from the lowest floor up.
    floors: &'static [&'static [&'static str]],
    /// Whether the rule holds for tests, too.
    with_tests: bool,
}

const CORE: House = House {
    sources: "observer/core/src/",
    floors: &[
        &["k8s", "left_out", "metrics", "quantity", "thresholds", "time", "redacted", "sorted_map"],
        &["http", "wire", "routing"],
        &["observation"],
        &["exchange", "logs"],
        &["reflector", "verification"],
        &["capture", "storm"],
        &["finding_kind"],
        &["series"],
        &["observer"],
    ],
    with_tests: true,
};

const SHELL: House = House {
    sources: "observer/src/",
    floors: &[
        &[
            "backoff",
            "bounded_file",
            "client_process",
            "dns_label",
            "error_chain",
            "forward_proxy",
            "injected_fault",
            "input_file",
            "invocation",
            "listening",
            "pod_layout",
            "private_file",
            "probe_check_result",
            "process_group",
            "signals",
            "thread_priority",
        ],
        &["capture", "injection", "kubeconfig", "log_files", "memory_limit", "printable"],
        &["child", "exec_plugin"],
        &["api_server"],
        &["coverage", "intake", "verification"],
        &["memory_budget", "tap"],
        &["credential", "pipeline"],
        &["metrics", "view"],
        &["otlp", "terminal"],
        &["attach", "session", "webhook"],
        &["cli"],
    ],
    with_tests: false,
};

impl House {
    fn floor(&self, module: &str) -> Option<usize> {
        self.floors.iter().position(|modules| modules.contains(&module))
    }

    /// Violations in a file. The crate's root is above all floors, because it declares all modules.
    fn upward_uses(&self, file: &SourceFile) -> Vec<Violation> {
        let Some(&module) = file.module().first() else { return Vec::new() };
        let Some(own_floor) = self.floor(module) else {
            return vec![Violation::of(file, format!("module `{module}` has no floor"))];
        };
        if !self.with_tests && file.module().contains(&"tests") {
            return Vec::new();
        }
        let uses = references(file);
        let counted = uses.iter().filter(|reference| self.with_tests || !reference.in_tests);
        counted.filter_map(|reference| self.upward(file, module, own_floor, reference)).collect()
    }

    fn upward(&self, file: &SourceFile, module: &str, own_floor: usize, reference: &Reference<'_>) -> Option<Violation> {
        let ["crate", target, ..] = reference.segments.as_slice() else { return None };
        if *target == module {
            return None;
        }
        let what = match self.floor(target) {
            Some(floor) if floor < own_floor => return None,
            Some(floor) => format!("`{module}` (floor {own_floor}) uses `{}` (floor {floor})", reference.path()),
            None => format!("`{}` leads to no floor", reference.path()),
        };
        Some(Violation::at(file, reference.line, what))
    }

    #[track_caller]
    fn assert_floors(&self) {
        let tree = Tree::read();
        let files = tree.rust_files_below(self.sources);
        for module in self.floors.iter().flat_map(|modules| modules.iter()) {
            assert!(files.iter().any(|file| file.module().first() == Some(module)), "{} has no module `{module}`", self.sources);
        }
        let violations: Vec<_> = files.into_iter().flat_map(|file| self.upward_uses(file)).collect();
        assert_none(
            &violations,
            "move what is shared to a lower floor, or pass it as an argument; a new module gets its floor in xtask/src/tidy/floors.rs \
             and ARCHITECTURE.md",
        );
    }
}

#[test]
fn modules_of_the_core_use_lower_floors_only() {
    CORE.assert_floors();
}

#[test]
fn modules_of_the_shell_use_lower_floors_only() {
    let tree = Tree::read();
    assert!(tree.rust_files_below("observer/core/src/").len() > 100, "the core is not part of the shell");
    SHELL.assert_floors();
}

#[test]
fn upward_and_sideways_uses_are_caught() {
    let text = "use crate::k8s::Verb;\nuse crate::exchange::Exchange;\nuse super::super::wire;\nuse super::field::Field;\nuse crate::Verdict;";
    let file = SourceFile::new("observer/core/src/http/event.rs", text);
    assert_found(
        &CORE.upward_uses(&file),
        &[
            "2: `http` (floor 1) uses `crate::exchange::Exchange` (floor 3)",
            "3: `http` (floor 1) uses `crate::wire` (floor 1)",
            "5: `crate::Verdict` leads to no floor",
        ],
    );
}

#[test]
fn tests_of_the_shell_may_look_upward() {
    let text = "mod tests { use crate::view::Page; }";
    assert_found(&SHELL.upward_uses(&SourceFile::new("observer/src/pipeline/latest.rs", text)), &[]);
    assert_found(&SHELL.upward_uses(&SourceFile::new("observer/src/pipeline/tests.rs", "use crate::view::Page;")), &[]);
    let used = SourceFile::new("observer/src/pipeline/latest.rs", "use crate::view::Page;");
    assert_found(&SHELL.upward_uses(&used), &["1: `pipeline` (floor 6) uses `crate::view::Page` (floor 7)"]);
}

#[test]
fn module_without_a_floor_is_caught() {
    let file = SourceFile::new("observer/core/src/manager/mod.rs", "");
    assert_found(&CORE.upward_uses(&file), &["module `manager` has no floor"]);
}

#[test]
fn root_of_the_core_may_name_every_floor() {
    let file = SourceFile::new("observer/core/src/lib.rs", "pub use crate::observer::Observer;");
    assert_found(&CORE.upward_uses(&file), &[]);
}
