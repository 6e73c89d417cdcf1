//! Reads the text files of this workspace.

use std::fs;
use std::io;
use std::path::Path;

use crate::workspace;

/// A text file with its path.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// The path relative to the root of the workspace, with `/` as separator.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceFile {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.has_extension("rs")
    }

    pub(crate) fn is_markdown(&self) -> bool {
        self.has_extension("md")
    }

    fn has_extension(&self, expected: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == expected)
    }

    /// The modules from the crate's root down to this file: `["http", "h2", "frame"]` for `observer/core/src/http/h2/frame.rs`.
    /// Empty for a crate's root, and for a file that is not below a `src`.
    pub(crate) fn module(&self) -> Vec<&str> {
        let Some((_, below_src)) = self.path.split_once("src/") else { return Vec::new() };
        let mut segments: Vec<&str> = below_src.trim_end_matches(".rs").split('/').collect();
        if matches!(segments.last(), Some(&("mod" | "lib" | "main"))) {
            segments.pop();
        }
        segments
    }
}

/// All text files except those of `.git` and those that `.gitignore` names.
pub(crate) struct Tree(Vec<SourceFile>);

impl Tree {
    /// Reads the tree from disk, without Git. So files count even before they are added, and in a copy without a repository.
    pub(crate) fn read() -> Self {
        let root = workspace::root();
        let gitignore = fs::read_to_string(root.join(".gitignore")).expect("the root has a .gitignore");
        let mut skipped: Vec<&str> = gitignore.lines().filter_map(|line| line.strip_prefix('/')).collect();
        skipped.push(".git");
        let mut files = Vec::new();
        collect(&root, "", &skipped, &mut files).expect("the tree is readable");
        files.sort_by(|a: &SourceFile, b| a.path.cmp(&b.path));
        Self(files)
    }

    pub(crate) fn files(&self) -> &[SourceFile] {
        &self.0
    }

    pub(crate) fn rust_files(&self) -> Vec<&SourceFile> {
        self.0.iter().filter(|file| file.is_rust()).collect()
    }

    /// The Rust files below `folder`, of which there must be at least one: a rule over no files proves nothing.
    #[track_caller]
    pub(crate) fn rust_files_below(&self, folder: &str) -> Vec<&SourceFile> {
        let files: Vec<_> = self.rust_files().into_iter().filter(|file| file.path.starts_with(folder)).collect();
        assert!(!files.is_empty(), "{folder} holds no Rust file: did it move? Then this rule must follow it");
        files
    }

    #[track_caller]
    pub(crate) fn file(&self, path: &str) -> &SourceFile {
        self.0.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path} is missing"))
    }
}

/// Collects the files of a folder and of those below it. Links are not followed. Files that are not UTF-8 are skipped, as are
/// temporary files that are deleted meanwhile.
fn collect(root: &Path, below: &str, skipped: &[&str], files: &mut Vec<SourceFile>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if skipped.contains(&path.as_str()) {
            continue;
        }
        if kind.is_dir() {
            collect(root, &format!("{path}/"), skipped, files)?;
        } else if kind.is_file()
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            files.push(SourceFile { path, text });
        }
    }
    Ok(())
}

#[test]
fn tree_holds_hidden_files_and_no_build_output() {
    let tree = Tree::read();
    assert!(tree.file(".cargo/config.toml").text.contains("[alias]"));
    assert!(tree.files().iter().all(|file| !file.path.starts_with("target/") && !file.path.starts_with(".git/")));
}

#[test]
fn module_path_follows_the_folders() {
    for (path, module) in [
        ("observer/core/src/lib.rs", &[] as &[&str]),
        ("observer/core/src/time.rs", &["time"]),
        ("observer/core/src/http/mod.rs", &["http"]),
        ("observer/core/src/http/h2/frame.rs", &["http", "h2", "frame"]),
        ("tests/it/main.rs", &[]),
    ] {
        assert_eq!(SourceFile::new(path, "").module(), module, "{path}");
    }
}
