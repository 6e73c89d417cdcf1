//! An isolated set of folders for a program under test (home, temporary folder and so on), and the search for secrets in them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;

use super::search::{Hit, Search};

/// The variables that name folders a program may write to.
const FOLDERS: [&str; 7] =
    ["HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];

/// An isolated environment for one program under test; removed on drop.
#[derive(Debug)]
pub struct Places {
    folder: TempDir,
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct Private {
    /// All files found, as absolute paths.
    pub files: Vec<PathBuf>,
    /// Secrets outside the allowed files, and files or folders with a wrong mode.
    pub leaks: Vec<String>,
}

impl Places {
    /// Creates the folders, all empty.
    pub fn new() -> Result<Self> {
        let places = Self { folder: tempfile::tempdir()? };
        for name in FOLDERS.iter().copied().chain(["given", "left"]) {
            fs::create_dir(places.folder.path().join(name))?;
        }
        Ok(places)
    }

    /// Sets the program's folders and working directory to this place. The umask stays the default, which lets other users read
    /// files.
    pub fn enclose(&self, command: &mut Command) {
        for name in FOLDERS {
            command.env(name, self.folder.path().join(name));
        }
        command.current_dir(self.left());
    }

    /// Writes an input file of the user. The search skips it.
    pub fn give(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let file = self.folder.path().join("given").join(name);
        fs::write(&file, content)?;
        Ok(file)
    }

    /// The working folder, for output files that flags name.
    pub fn left(&self) -> PathBuf {
        self.folder.path().join("left")
    }

    /// Searches all present files, and checks that only the owner has access. `allowed` accepts the files that may contain secrets.
    pub fn search(&self, search: &Search, allowed: impl Fn(&Path) -> bool) -> Result<Private> {
        let folders = FOLDERS.iter().copied().chain(["left"]).map(|name| self.folder.path().join(name));
        Private::below(folders, search, allowed)
    }
}

impl Private {
    /// Like [`Places::search`], for everything below these folders.
    pub fn below(folders: impl IntoIterator<Item = PathBuf>, search: &Search, allowed: impl Fn(&Path) -> bool) -> Result<Self> {
        let mut private = Self::default();
        for folder in folders {
            collect(&folder, &mut private)?;
        }
        for file in &private.files {
            // A file that was removed in the meantime cannot leak.
            let Ok(content) = fs::read(file) else { continue };
            let hits = if allowed(file) { Vec::new() } else { search.hits(&content) };
            private.leaks.extend(hits.iter().map(|hit| leak(&file.display().to_string(), hit)));
        }
        Ok(private)
    }
}

/// Formats a hit.
fn leak(found_in: &str, hit: &Hit) -> String {
    format!("{found_in}: {hit}")
}

/// Collects the files below a folder that the test made. A program must create folders as 0700 and files as 0600, sockets included.
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
