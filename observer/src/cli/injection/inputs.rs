//! Finds and reads manifests.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::bounded_file;

/// Maximum size of one input, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Names of manifests end so.
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// Maximum nesting of folders.
const DEEPEST: usize = 32;

/// A manifest as given, of a file or of standard input.
#[derive(Clone, Debug)]
pub(super) struct Input {
    /// Its name in the report.
    pub(super) name: String,
    /// The file; `None` for standard input.
    pub(super) path: Option<PathBuf>,
    pub(super) text: String,
}

/// Reads all inputs: files in the order given, those of folders by name. Without arguments, a pipe is read.
pub(super) fn read(arguments: &[PathBuf]) -> Result<Vec<Input>> {
    if arguments.is_empty() {
        if io::stdin().is_terminal() {
            bail!("name a file or a folder, or pipe a manifest");
        }
        return Ok(vec![stdin()?]);
    }
    let mut inputs = Vec::new();
    let mut seen = BTreeSet::new();
    for argument in arguments {
        if argument.as_os_str() == "-" {
            if !seen.insert(argument.clone()) {
                bail!("- is given twice");
            }
            inputs.push(stdin()?);
            continue;
        }
        let mut files = Vec::new();
        find(argument, 0, &mut files)?;
        if files.is_empty() {
            bail!("{} has no *.yaml, *.yml or *.json", argument.display());
        }
        for file in files {
            let identity = fs::canonicalize(&file).with_context(|| format!("cannot read {}", file.display()))?;
            if seen.insert(identity) {
                inputs.push(input(file)?);
            }
        }
    }
    Ok(inputs)
}

fn find(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let metadata = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    if !metadata.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    if depth > DEEPEST {
        bail!("{} is nested too deeply", path.display());
    }
    let entries = fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut entries = entries.collect::<io::Result<Vec<_>>>().with_context(|| format!("cannot read {}", path.display()))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        // Folders of tools, such as .git, hold no manifests. A link to a folder could lead in a circle.
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let kind = entry.file_type().with_context(|| format!("cannot read {}", entry.path().display()))?;
        let is_manifest = entry.path().extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known));
        if kind.is_dir() || (is_manifest && entry.path().is_file()) {
            find(&entry.path(), depth + 1, files)?;
        }
    }
    Ok(())
}

fn input(file: PathBuf) -> Result<Input> {
    let name = file.display().to_string();
    let text = bounded_file::read_text(&file, MAX_BYTES).with_context(|| format!("cannot read {name}"))?;
    Ok(Input { name, path: Some(file), text })
}

fn stdin() -> Result<Input> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes).context("cannot read stdin")?;
    if u64::try_from(bytes.len()).is_ok_and(|read| read > MAX_BYTES) {
        bail!("stdin is larger than {MAX_BYTES} bytes: split the manifest");
    }
    let text = String::from_utf8(bytes).context("stdin is not UTF-8")?;
    Ok(Input { name: "stdin".to_owned(), path: None, text })
}
