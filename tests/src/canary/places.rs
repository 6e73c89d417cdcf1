//! Everywhere that a running program can leave something: a folder of its own that is home, temporary folder and all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;

use super::search::{Hit, Search};

/// The variables that say where a program may write.
const FOLDERS: [&str; 7] =
    ["HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];

/// A private world for one program under test; removed when dropped.
#[derive(Debug)]
pub struct Places {
    folder: TempDir,
}

/// What was found in all of it.
#[derive(Debug, Default)]
pub struct Private {
    /// The files, from the folder's root.
    pub files: Vec<PathBuf>,
    /// What stands where it may not.
    pub leaks: Vec<String>,
}

impl Places {
    /// Empty but for its folders.
    pub fn new() -> Result<Self> {
        let places = Self { folder: tempfile::tempdir()? };
        for name in FOLDERS.iter().copied().chain(["given", "left"]) {
            fs::create_dir(places.folder.path().join(name))?;
        }
        Ok(places)
    }

    /// Puts the program into it, with the usual umask of users, which keeps nobody from reading.
    pub fn enclose(&self, command: &mut Command) {
        for name in FOLDERS {
            command.env(name, self.folder.path().join(name));
        }
        command.current_dir(self.left());
    }

    /// Writes what the user has: searched by nobody.
    pub fn give(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let file = self.folder.path().join("given").join(name);
        fs::write(&file, content)?;
        Ok(file)
    }

    /// The working folder, for the files that are asked for by flags.
    pub fn left(&self) -> PathBuf {
        self.folder.path().join("left")
    }

    /// Searches all files that are there now, and checks that each is for its owner only. `allowed` are those that may hold secrets.
    pub fn search(&self, search: &Search, allowed: impl Fn(&Path) -> bool) -> Result<Private> {
        let folders = FOLDERS.iter().copied().chain(["left"]).map(|name| self.folder.path().join(name));
        Private::below(folders, search, allowed)
    }
}

impl Private {
    /// As [`Places::search`], of whatever lies below these folders.
    pub fn below(folders: impl IntoIterator<Item = PathBuf>, search: &Search, allowed: impl Fn(&Path) -> bool) -> Result<Self> {
        let mut private = Self::default();
        for folder in folders {
            collect(&folder, &mut private)?;
        }
        for file in &private.files {
            // A file that has gone meanwhile is nowhere.
            let Ok(content) = fs::read(file) else { continue };
            let hits = if allowed(file) { Vec::new() } else { search.hits(&content) };
            private.leaks.extend(hits.iter().map(|hit| leak(&file.display().to_string(), hit)));
        }
        Ok(private)
    }
}

/// A hit in words.
fn leak(found_in: &str, hit: &Hit) -> String {
    format!("{found_in}: {hit}")
}

/// Files below a folder that the test made; what a program makes there must be 0700 and 0600, a socket too, which has no content.
fn collect(folder: &Path, private: &mut Private) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        let mode = metadata.permissions().mode() & 0o777;
        if metadata.is_dir() {
            if mode != 0o700 {
                private.leaks.push(format!("{}: mode {mode:o}, and a folder of ours is for its owner only", path.display()));
            }
            collect(&path, private)?;
        } else {
            if mode != 0o600 {
                private.leaks.push(format!("{}: mode {mode:o}, and a file of ours is for its owner only", path.display()));
            }
            private.files.extend(Some(path).filter(|_| metadata.is_file()));
        }
    }
    Ok(())
}
