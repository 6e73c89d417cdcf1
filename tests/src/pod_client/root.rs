//! Root filesystems for containers: all files that a program needs, in a folder of the cache.
//!
//! A root is made once per machine. Its folder's name has a hash of its inputs, so an existing root is always current.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{folders, programs};

/// A program that is needed for a root filesystem, and not on the PATH.
#[derive(Debug)]
pub(super) struct Missing(pub(super) &'static str);

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not on the PATH", self.0)
    }
}

impl Error for Missing {}

/// The root filesystem of a program, and its command. It has no `proc`, `dev` and `tmp`, which runtimes add.
#[derive(Clone, Debug)]
pub struct PodRoot {
    folder: PathBuf,
    command: Vec<String>,
}

impl PodRoot {
    /// The command without the program's arguments; the program is an absolute path.
    pub fn command(&self) -> &[String] {
        &self.command
    }

    /// The folders in the root: the path in a container, and the source on this machine.
    pub fn folders(&self) -> Result<Vec<(String, PathBuf)>> {
        let entries = fs::read_dir(&self.folder)?.collect::<Result<Vec<_>, _>>()?;
        let mut folders: Vec<_> =
            entries.iter().map(|entry| (format!("/{}", entry.file_name().to_string_lossy()), entry.path())).collect();
        folders.sort();
        Ok(folders)
    }

    /// The number of bytes of all files.
    pub fn size(&self) -> Result<u64> {
        size(&self.folder)
    }
}

fn size(folder: &Path) -> Result<u64> {
    fs::read_dir(folder)?.try_fold(0, |sum, entry| {
        let entry = entry?;
        let length = if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
        Ok(sum + length)
    })
}

/// Returns the root with this name. If it is missing, `fill` adds its files to an empty folder.
pub(super) fn assemble(name: &str, inputs: impl Hash, command: &[&str], fill: impl FnOnce(&Path) -> Result<()>) -> Result<PodRoot> {
    let mut hasher = DefaultHasher::new();
    inputs.hash(&mut hasher);
    let roots = folders::cluster_cache().join("pod-clients");
    fs::create_dir_all(&roots).with_context(|| format!("cannot create {}", roots.display()))?;
    let lock = File::create(roots.join(format!("{name}.lock")))?;
    lock.lock()?;
    let folder = roots.join(format!("{name}-{:016x}", hasher.finish()));
    if !folder.exists() {
        remove_older(&roots, name)?;
        let filling = tempfile::tempdir_in(&roots)?;
        fill(filling.path())?;
        fs::rename(filling.keep(), &folder)?;
    }
    Ok(PodRoot { folder, command: command.iter().map(|word| (*word).to_owned()).collect() })
}

/// A root has up to 200 MB, and each change of a program makes another one.
fn remove_older(roots: &Path, name: &str) -> Result<()> {
    for entry in fs::read_dir(roots)? {
        let entry = entry?;
        let is_older = entry.file_name().to_str().and_then(|found| found.strip_prefix(name)?.strip_prefix('-')).is_some();
        if is_older {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// The path of a program, or [`Missing`].
pub(super) fn require(program: &'static str) -> Result<PathBuf> {
    Ok(programs::find(program).ok_or(Missing(program))?)
}

/// Copies a file, or a folder with all that is in it but what `is_needed` rejects. Links are followed.
pub(super) fn copy(from: &Path, to: &Path, is_needed: &dyn Fn(&Path) -> bool) -> Result<()> {
    let copied = || -> Result<()> {
        if !from.metadata()?.is_dir() {
            fs::create_dir_all(to.parent().unwrap_or(to))?;
            return fs::copy(from, to).map(drop).map_err(Into::into);
        }
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            if is_needed(&entry.path()) {
                copy(&entry.path(), &to.join(entry.file_name()), is_needed)?;
            }
        }
        Ok(())
    };
    copied().with_context(|| format!("cannot copy {}", from.display()))
}

/// Runs a program that builds a part of a root, and fails unless it succeeds.
pub(super) fn run(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}
