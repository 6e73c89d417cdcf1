//! Rule: a module is named after its concept, and has no vague name such as `utils`.

use super::tokens::tokens;
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

const NAMELESS: &[&str] = &["common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"];

fn is_nameless(name: &str) -> bool {
    name.split('_').any(|word| NAMELESS.contains(&word))
}

/// Checks the names of files, folders and inline modules.
fn nameless_modules(file: &SourceFile) -> Vec<Violation> {
    let path = file.path.trim_end_matches(".rs");
    let of_path = path.split('/').filter(|name| is_nameless(name)).map(|name| Violation::of(file, format!("`{name}`")));
    let tokens = tokens(&file.text);
    let inline = tokens.windows(3).filter_map(|three| match three {
        [keyword, name, brace] if keyword.text == "mod" && brace.text == "{" && is_nameless(name.text) => {
            Some(Violation::at(file, name.line, format!("`{}`", name.text)))
        }
        _ => None,
    });
    of_path.chain(inline).collect()
}

#[test]
fn modules_are_named_after_their_concept() {
    let tree = Tree::read();
    let violations: Vec<_> = tree.rust_files_below("").into_iter().flat_map(nameless_modules).collect();
    assert_none(&violations, "a homeless function belongs to the type it asks about; otherwise name the module after what it does");
}

#[test]
fn nameless_modules_are_caught() {
    assert_found(&nameless_modules(&SourceFile::new("a/src/http_utils.rs", "//! x")), &["`http_utils`"]);
    assert_found(&nameless_modules(&SourceFile::new("a/src/common/mod.rs", "//! x")), &["`common`"]);
    assert_found(&nameless_modules(&SourceFile::new("a/src/b.rs", "//! x\nmod helpers { }")), &["2: `helpers`"]);
    assert_found(&nameless_modules(&SourceFile::new("a/src/utility_of_lists.rs", "//! x")), &[]);
}
