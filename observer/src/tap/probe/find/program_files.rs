//! The files whose code a process runs, as far as they may contain a TLS library.
//!
//! stat(2) identifies each file, however it was found. The device numbers in proc(5)'s table of mappings differ from stat(2)'s on
//! two file systems. On btrfs each subvolume has a device of its own. On overlayfs the table has the device of the overlay or that
//! of the layer below, depending on the release of Linux.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use procfs::ProcError;
use procfs::process::{MMPermissions, MMapPath, MemoryMap, Process};

use super::libraries::Libraries;
use super::program_file::{DELETED, FileIdentity, ProgramFile};

/// The program of a process, and its shared libraries that may contain TLS.
///
/// # Errors
///
/// The process is gone, or may not be inspected.
pub(in crate::tap::probe) fn program_files(process: u32, libraries: &mut Libraries) -> io::Result<Vec<ProgramFile>> {
    let number = i32::try_from(process).map_err(io::Error::other)?;
    let maps = Process::new(number).and_then(|process| process.maps()).map_err(of_proc)?;
    let executable = fs::read_link(format!("/proc/{process}/exe"))?;
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    for map in maps.into_iter().filter(|map| map.perms.contains(MMPermissions::EXECUTE) && map.inode != 0) {
        let MMapPath::Path(name) = &map.pathname else { continue };
        let is_program = *name == executable;
        let found = || {
            let (path, identity) = if is_program { program(process, &map) } else { library(process, &map, name) };
            ProgramFile { identity, path, name: name.to_string_lossy().into_owned() }
        };
        if !is_program && !libraries.may_have_tls(&map, name, found) {
            continue;
        }
        let file = found();
        if seen.insert(file.identity) {
            files.push(file);
        }
    }
    Ok(files)
}

/// Keeps the error kind that the kernel reported.
fn of_proc(error: ProcError) -> io::Error {
    match error {
        ProcError::PermissionDenied(_) => io::ErrorKind::PermissionDenied.into(),
        ProcError::NotFound(_) => io::ErrorKind::NotFound.into(),
        ProcError::Io(error, _) => error,
        error @ (ProcError::Incomplete(_) | ProcError::Other(_) | ProcError::InternalError(_)) => io::Error::other(error),
    }
}

/// The program of a process, which can be reached even if its name is gone.
fn program(process: u32, map: &MemoryMap) -> (PathBuf, FileIdentity) {
    let path = PathBuf::from(format!("/proc/{process}/exe"));
    let identity = FileIdentity::of(&path).unwrap_or_else(|| FileIdentity::mapped(map));
    (path, identity)
}

/// The path of a mapped library.
///
/// The name is resolved from the root of the process, which may differ from watchtap's in a container. Next it is resolved from
/// watchtap's root: the kernel reports names from there for processes that have only changed their root (chroot(2)). The name may
/// lead to another file by now, or another one may be mounted over it. Then the mapping itself is used, which needs more
/// privileges.
fn library(process: u32, map: &MemoryMap, name: &Path) -> (PathBuf, FileIdentity) {
    let mapping = PathBuf::from(format!("/proc/{process}/map_files/{:x}-{:x}", map.address.0, map.address.1));
    let mapped = FileIdentity::of(&mapping);
    let is_it = |found: &FileIdentity| Some(*found) == mapped || found.inode == map.inode;
    let is_deleted = name.to_string_lossy().ends_with(DELETED);
    let names = [Path::new(&format!("/proc/{process}/root")).join(name.strip_prefix("/").unwrap_or(name)), name.to_owned()];
    let by_name = names.into_iter().filter(|_| !is_deleted).find_map(|path| {
        let found = FileIdentity::of(&path).filter(is_it)?;
        Some((path, found))
    });
    by_name.unwrap_or_else(|| (mapping, mapped.unwrap_or_else(|| FileIdentity::mapped(map))))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::os::unix::fs::MetadataExt as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn only_the_program_and_tls_libraries_are_found() {
        let script = "import ssl; print('ready', flush=True); input()";
        let mut child = Command::new("python3").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let files = program_files(child.id(), &mut Libraries::default()).unwrap();
        assert!(files.iter().any(|file| file.name.contains("libssl")), "{files:?}");
        assert_eq!(files.iter().filter(|file| file.path.ends_with("exe")).count(), 1, "{files:?}");
        assert!(!files.iter().any(|file| file.name.contains("libc.so")), "{files:?}");
        for file in &files {
            assert_eq!(fs::metadata(&file.path).unwrap().ino(), file.identity.inode, "{file:?}");
        }
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(program_files(child.id(), &mut Libraries::default()).is_err());
    }

    #[test]
    fn file_identity_matches_its_mapping() {
        let executable = std::env::current_exe().unwrap();
        let files = program_files(std::process::id(), &mut Libraries::default()).unwrap();
        assert!(files.iter().any(|file| Some(file.identity) == FileIdentity::of(&executable)), "{files:?}");
        assert_eq!(FileIdentity::of(Path::new("/dev")), None);
    }

    #[test]
    fn library_is_identified_by_stat_and_not_by_its_mapping() {
        let own = std::process::id();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libssl.so");
        fs::write(&file, "").unwrap();
        let identity = FileIdentity::of(&file).unwrap();
        let device = (0, 4_095);
        let map = |inode| MemoryMap {
            address: (1, 2),
            perms: MMPermissions::EXECUTE,
            offset: 0,
            dev: device,
            inode,
            pathname: MMapPath::Path(file.clone()),
            extension: procfs::process::MMapExtension::default(),
        };
        let by_name = Path::new(&format!("/proc/{own}/root")).join(file.strip_prefix("/").unwrap());
        assert_eq!(library(own, &map(identity.inode), &file), (by_name, identity), "its device in the table is another one");

        let replaced = PathBuf::from(format!("{}{DELETED}", file.display()));
        let as_mapped = FileIdentity { device: rustix::fs::makedev(0, 4_095), inode: identity.inode, born: None };
        for (name, inode) in [(&file, identity.inode + 1), (&replaced, identity.inode)] {
            let (path, found) = library(own, &map(inode), name);
            assert!(path.ends_with("map_files/1-2"), "{name:?} {path:?}");
            assert_eq!(found, FileIdentity { inode, ..as_mapped }, "{name:?}");
        }
    }

    #[test]
    fn deleted_program_is_still_found() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("sleeper");
        // Copied by another process. If this process copied it, a child that another thread starts could hold it open for writing,
        // and then it could not be run.
        assert!(Command::new("cp").arg("/bin/cat").arg(&copy).status().unwrap().success());
        let mut child = Command::new(&copy).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // The child has mapped its file when it answers; `spawn` returns as soon as the former mapping is gone.
        child.stdin.as_mut().unwrap().write_all(b"?").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let inode = fs::metadata(&copy).unwrap().ino();
        fs::remove_file(&copy).unwrap();
        let files = program_files(child.id(), &mut Libraries::default()).unwrap();
        let [file] = files.as_slice() else { panic!("{files:?}") };
        assert_eq!((file.identity.inode, fs::metadata(&file.path).unwrap().ino()), (inode, inode));
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
