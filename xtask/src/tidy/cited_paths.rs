//! Rule: files and folders that a document names exist.
//!
//! A path is named in code font from the root of the workspace, such as `observer/src/pipeline/latest.rs`. The changelog may name
//! files that no longer exist.

use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

/// First segments of a path from the root.
const ROOTS: [&str; 7] = ["deploy/", "docs/", "observer/", "observer-ebpf/", "tests/", "xtask/", ".ci/"];
/// The document that may name files that no longer exist.
const HISTORY: &str = "CHANGELOG.md";
/// Paths that are not checked: a binary file, and a pattern.
const NOT_TEXT: [&str; 3] = ["observer-ebpf/watchtap.bpf.o", "observer-ebpf/watchtap.arm64.bpf.o", "tests/fuzz/seeds/TARGET"];

fn missing_paths(document: &SourceFile, files: &[SourceFile]) -> Vec<Violation> {
    let named = (1..).zip(document.text.lines()).flat_map(|(number, line)| {
        let spans = line.split('`').skip(1).step_by(2);
        spans.filter(|span| is_path(span)).map(move |span| (number, span))
    });
    let missing = named.filter(|(_, path)| !exists(path, files) && !NOT_TEXT.contains(path));
    missing.map(|(line, path)| Violation::at(document, line, format!("no `{path}`"))).collect()
}

fn is_path(span: &str) -> bool {
    let has_path_characters = |character: char| character.is_ascii_alphanumeric() || "/._-".contains(character);
    ROOTS.iter().any(|root| span.starts_with(root)) && span.chars().all(has_path_characters)
}

/// Whether a named path exists. A module may be named by its folder, or without `.rs`.
fn exists(path: &str, files: &[SourceFile]) -> bool {
    let path = path.trim_end_matches('/');
    let below = format!("{path}/");
    let module = format!("{path}.rs");
    files.iter().any(|file| file.path == path || file.path == module || file.path.starts_with(&below))
}

#[test]
fn paths_cited_in_documents_exist() {
    let tree = Tree::read();
    let documents: Vec<&SourceFile> = tree.files().iter().filter(|file| file.is_markdown() && file.path != HISTORY).collect();
    let architecture = tree.file("ARCHITECTURE.md");
    assert!(architecture.text.matches("`observer/").count() > 50, "ARCHITECTURE.md names no paths any more");
    let violations: Vec<_> = documents.into_iter().flat_map(|document| missing_paths(document, tree.files())).collect();
    assert_none(&violations, "the file moved: name its new place");
}

#[test]
fn missing_path_is_caught() {
    let files = [SourceFile::new("observer/src/view/report.rs", "")];
    let text = "`observer/src/view/report.rs`, `observer/src/view`, `observer/src/view/report`\n`observer/gone.rs` and `observer-ebpf/watchtap.bpf.o`\n`docs/x y`";
    let found = missing_paths(&SourceFile::new("ARCHITECTURE.md", text), &files);
    assert_found(&found, &["2: no `observer/gone.rs`"]);
}
