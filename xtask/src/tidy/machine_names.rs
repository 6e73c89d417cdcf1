//! Rule: no file names a folder that exists only on one machine, or a private package registry.

use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

/// Folders under `/` that belong to one person or one machine.
const PRIVATE_FOLDERS: &[&str] = &["home", "root", "work"];

/// First labels of host names of package registries.
const REGISTRY_LABELS: &[&str] =
    &["artifactory", "goproxy", "index", "mirror", "mirrors", "nexus", "proxy", "registry", "static", "sum"];

/// Last labels of hosts that can exist; those of RFC 2606 (`.example`, `.test`, `.invalid`) cannot.
const TOP_LEVELS: &[&str] = &["cloud", "com", "corp", "dev", "internal", "io", "lan", "net", "org"];

/// Hosts of Kubernetes itself, such as its image registry.
const KUBERNETES: &str = ".k8s.io";

/// Whether a file is a lock file, which a tool writes.
fn is_written_by_a_tool(file: &SourceFile) -> bool {
    file.path.split(['/', '.']).next_back().is_some_and(|extension| matches!(extension, "lock" | "sum"))
}

fn machine_names(file: &SourceFile) -> Vec<Violation> {
    if is_written_by_a_tool(file) {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate();
    lines.flat_map(|(at, line)| names(line).map(move |name| Violation::at(file, at + 1, name))).collect()
}

fn names(line: &str) -> impl Iterator<Item = String> {
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || "/.-_".contains(c)));
    words.filter(|word| is_private_path(word) || word.split('/').any(is_registry)).map(String::from)
}

fn is_private_path(word: &str) -> bool {
    let mut segments = word.split('/');
    segments.next() == Some("")
        && segments.next().is_some_and(|first| PRIVATE_FOLDERS.contains(&first))
        && segments.next().is_some()
}

fn is_registry(host: &str) -> bool {
    let labels: Vec<&str> = host.split('.').collect();
    let [first, .., last] = labels.as_slice() else { return false };
    labels.len() > 2 && REGISTRY_LABELS.contains(first) && TOP_LEVELS.contains(last) && !host.ends_with(KUBERNETES)
}

#[test]
fn files_name_no_machine_and_no_registry() {
    let violations: Vec<_> = Tree::read().files().iter().flat_map(machine_names).collect();
    assert_none(
        &violations,
        "use a path from the workspace's root, an environment variable, or a name under `.example` (RFC 2606)",
    );
}

#[test]
fn private_paths_are_caught() {
    for folder in PRIVATE_FOLDERS {
        let path = format!("/{folder}/somebody");
        let file = SourceFile::new("a.md", &format!("first\nsee `{path}`\nsysroot{path} and https://a.example{path} are others"));
        assert_found(&machine_names(&file), &[&format!("2: {path}")]);
    }
}

#[test]
fn registry_hosts_are_caught() {
    let host = format!("{}.{}", "proxy", "packages.internal");
    let file = SourceFile::new("a.sh", &format!("export GOPROXY=https://{host}/go,direct"));
    assert_found(&machine_names(&file), &[&format!("1: //{host}/go")]);
}

#[test]
fn reserved_names_keys_and_lock_files_are_fine() {
    let text = "https://proxy.corp.example:3128 reads /registry/pods/ from registry.k8s.io/pause, proxy.rs";
    assert_found(&machine_names(&SourceFile::new("a.md", text)), &[]);
    let locked = SourceFile::new("tests/servers/go.sum", &format!("{}.golang.org", "sum"));
    assert_found(&machine_names(&locked), &[]);
}
