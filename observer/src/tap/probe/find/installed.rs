//! TLS libraries installed on this machine, which a process may load after its first traffic.

use std::fs;
use std::path::{Path, PathBuf};

use super::program_file::{FileIdentity, ProgramFile};

/// Folders that the dynamic loader searches in addition to those in its configuration, in the layouts of all distributions
/// (ld.so(8)).
const FOLDERS: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"];
/// Debian and its derivatives have a folder of libraries for each architecture, named after its triplet.
const TRIPLET: &str = "-linux-";

/// Files with the name of OpenSSL's library, each once.
pub(in crate::tap::probe) fn installed_libraries() -> Vec<ProgramFile> {
    let mut found: Vec<ProgramFile> = Vec::new();
    let folders = FOLDERS.iter().map(PathBuf::from).flat_map(|folder| {
        let triplets = entries(&folder).filter(|path| name(path).contains(TRIPLET) && path.is_dir()).collect::<Vec<_>>();
        std::iter::once(folder).chain(triplets)
    });
    for path in folders.flat_map(|folder| entries(&folder).collect::<Vec<_>>()) {
        if name(&path).starts_with("libssl.so")
            && let Some(identity) = FileIdentity::of(&path)
            && found.iter().all(|other| other.identity != identity)
        {
            // With links resolved, as a process that maps the file sees it.
            let name = fs::canonicalize(&path).as_ref().unwrap_or(&path).to_string_lossy().into_owned();
            found.push(ProgramFile { identity, path, name });
        }
    }
    found
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

fn name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_library_is_found_twice() {
        let found = installed_libraries();
        let mut identities: Vec<FileIdentity> = found.iter().map(|file| file.identity).collect();
        identities.sort();
        identities.dedup();
        assert_eq!(identities.len(), found.len(), "{found:?}");
    }
}
