//! Man pages and completions, written by a program of the workspace that links watchtap's command line.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use crate::image::{File, Files, Mode};
use crate::workspace;

/// Runs the program, and reads what it wrote.
pub(super) fn documents() -> anyhow::Result<Files> {
    let folder = workspace::target().join("releases/manual");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    println!("== man pages and completions");
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--quiet", "--locked", "--package", "observer-manual", "--"]).arg(&folder);
    ensure!(cargo.status().context("cannot start cargo")?.success(), "the man pages cannot be written: see cargo's messages above");
    let mut files = Files::new();
    collect(&folder, "", &mut files)?;
    Ok(files)
}

fn collect(folder: &Path, above: &str, files: &mut Files) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let path = format!("{above}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.insert(path, File { mode: Mode::Readable, content: fs::read(entry.path())? });
        }
    }
    Ok(())
}
