//! The files that a process runs code of, as far as a TLS library may be in them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use procfs::ProcError;
use procfs::process::{MMPermissions, MMapPath, MemoryMap, Process};

/// Words in the names of shared libraries that are or contain a TLS library: libssl, `BoringSSL` under its own name, netty's tcnative and
/// conscrypt of Java, the `_ssl` module of Python.
const TLS_WORDS: &[&str] = &["ssl", "tls", "tcnative", "conscrypt"];

/// A file on its file system: the same for all processes that map it, under whatever name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIdentity {
    /// Major and minor number of the device.
    pub device: (i32, i32),
    /// The number of the file there.
    pub inode: u64,
}

impl FileIdentity {
    /// That of the file at a path, links followed, as the table of a process's mappings numbers it; nothing for what is no file.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let device = metadata.dev();
        let number = |number: u32| i32::try_from(number).ok();
        let device = (number(rustix::fs::major(device))?, number(rustix::fs::minor(device))?);
        Some(Self { device, inode: metadata.ino() })
    }
}

/// A file that a process runs code of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFile {
    /// Which file.
    pub identity: FileIdentity,
    /// Where this process, which may be in another mount namespace or have its file replaced on disk, reaches it through `/proc`.
    pub path: PathBuf,
    /// Its name as the observed process has it.
    pub name: String,
}

/// The program of a process, and what shared libraries of it may be for TLS.
///
/// # Errors
///
/// When the process is gone, or may not be looked at.
pub fn program_files(process: u32) -> io::Result<Vec<ProgramFile>> {
    let number = i32::try_from(process).map_err(io::Error::other)?;
    let maps = Process::new(number).and_then(|process| process.maps()).map_err(of_proc)?;
    let executable = fs::read_link(format!("/proc/{process}/exe"))?;
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    for map in maps.into_iter().filter(|map| map.perms.contains(MMPermissions::EXECUTE) && map.inode != 0) {
        let MMapPath::Path(path) = &map.pathname else { continue };
        let identity = FileIdentity { device: map.dev, inode: map.inode };
        let is_program = *path == executable;
        if (is_program || may_have_tls(path)) && seen.insert(identity) {
            let name = path.to_string_lossy().into_owned();
            files.push(ProgramFile { identity, path: reached(process, &map, path, is_program), name });
        }
    }
    Ok(files)
}

/// With the kind that the kernel told.
fn of_proc(error: ProcError) -> io::Error {
    match error {
        ProcError::PermissionDenied(_) => io::ErrorKind::PermissionDenied.into(),
        ProcError::NotFound(_) => io::ErrorKind::NotFound.into(),
        ProcError::Io(error, _) => error,
        error @ (ProcError::Incomplete(_) | ProcError::Other(_) | ProcError::InternalError(_)) => io::Error::other(error),
    }
}

fn may_have_tls(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    TLS_WORDS.iter().any(|word| name.contains(word))
}

/// A file that was deleted or replaced has its name no more, but the process has it still.
fn reached(process: u32, map: &MemoryMap, path: &Path, is_program: bool) -> PathBuf {
    let is_deleted = path.to_string_lossy().ends_with(" (deleted)");
    if is_program {
        PathBuf::from(format!("/proc/{process}/exe"))
    } else if is_deleted {
        PathBuf::from(format!("/proc/{process}/map_files/{:x}-{:x}", map.address.0, map.address.1))
    } else {
        let mut reached = PathBuf::from(format!("/proc/{process}/root"));
        reached.extend(path.strip_prefix("/").ok());
        reached
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn program_and_tls_library_of_a_process_are_found_and_nothing_else() {
        let script = "import ssl; print('ready', flush=True); input()";
        let mut child = Command::new("python3").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let files = program_files(child.id()).unwrap();
        assert!(files.iter().any(|file| file.name.contains("libssl")), "{files:?}");
        assert_eq!(files.iter().filter(|file| file.path.ends_with("exe")).count(), 1, "{files:?}");
        assert!(!files.iter().any(|file| file.name.contains("libc.so")), "{files:?}");
        for file in &files {
            assert_eq!(fs::metadata(&file.path).unwrap().ino(), file.identity.inode, "{file:?}");
        }
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(program_files(child.id()).is_err());
    }

    #[test]
    fn file_has_the_identity_that_mappings_of_it_have() {
        let executable = std::env::current_exe().unwrap();
        let files = program_files(std::process::id()).unwrap();
        assert!(files.iter().any(|file| Some(file.identity) == FileIdentity::of(&executable)), "{files:?}");
        assert_eq!(FileIdentity::of(Path::new("/dev")), None);
    }

    #[test]
    fn program_that_was_deleted_is_still_reached() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("sleeper");
        // Copied by another process: a child that another thread starts would hold our file open for writing, and then it cannot be run.
        assert!(Command::new("cp").arg("/bin/cat").arg(&copy).status().unwrap().success());
        let mut child = Command::new(&copy).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // It has mapped its file when it answers; `spawn` returns as soon as it has given up the former one.
        child.stdin.as_mut().unwrap().write_all(b"?").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let inode = fs::metadata(&copy).unwrap().ino();
        fs::remove_file(&copy).unwrap();
        let files = program_files(child.id()).unwrap();
        let [file] = files.as_slice() else { panic!("{files:?}") };
        assert_eq!((file.identity.inode, fs::metadata(&file.path).unwrap().ino()), (inode, inode));
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
