//! Tests of the private folder of a run.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::kubeconfig::RunFolder;

#[test]
fn run_folder_is_private_to_its_owner() {
    let location = private();
    let folder = RunFolder::create(Some(location.path()), Path::new("/absent")).unwrap();
    assert!(folder.passed_over().is_none());
    let file = folder.write("kubeconfig", b"x").unwrap();
    assert_eq!((mode(folder.path()), mode(&file)), (0o700, 0o600));
    assert_eq!(fs::read(file).unwrap(), b"x");
}

#[test]
fn a_file_is_not_written_twice() {
    let location = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(None, location.path()).unwrap();
    folder.write("key", b"one").unwrap();
    assert_eq!(folder.write("key", b"two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
}

#[test]
fn run_folder_is_deleted_when_dropped_or_removed() {
    let location = tempfile::tempdir().unwrap();
    for end in [drop, |folder: RunFolder| folder.remove().unwrap()] {
        let folder = RunFolder::create(None, location.path()).unwrap();
        folder.write("key", b"secret").unwrap();
        end(folder);
        assert_eq!(fs::read_dir(location.path()).unwrap().count(), 0);
    }
}

#[test]
fn an_unusable_runtime_directory_is_passed_over() {
    let location = tempfile::tempdir().unwrap();
    for (unusable, said) in [("relative", "is not an absolute path"), ("/absent/folder", "cannot be used"), ("", "")] {
        let folder = RunFolder::create(Some(Path::new(unusable)), location.path()).unwrap();
        assert!(folder.path().starts_with(location.path()));
        let why = folder.passed_over().map_or_else(String::new, ToString::to_string);
        assert!(why.starts_with(said) && why.is_empty() == said.is_empty(), "{unusable}: {why}");
    }
}

#[test]
fn a_runtime_directory_that_others_can_enter_is_passed_over() {
    let (runtime, location) = (private(), tempfile::tempdir().unwrap());
    for mode in [0o755, 0o1777, 0o770] {
        fs::set_permissions(runtime.path(), fs::Permissions::from_mode(mode)).unwrap();
        let folder = RunFolder::create(Some(runtime.path()), location.path()).unwrap();
        assert!(folder.path().starts_with(location.path()), "{mode:o}");
        assert!(folder.passed_over().is_some_and(|why| why.to_string().contains("must be 0700")), "{mode:o}");
    }
}

fn private() -> tempfile::TempDir {
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
