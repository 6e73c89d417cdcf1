//! The private folder of a run.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::kubeconfig::RunFolder;

#[test]
fn only_the_owner_can_look_into_it() {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(Some(place.path()), Path::new("/absent")).unwrap();
    let file = folder.write("kubeconfig", b"x").unwrap();
    assert_eq!((mode(folder.path()), mode(&file)), (0o700, 0o600));
    assert_eq!(fs::read(file).unwrap(), b"x");
}

#[test]
fn a_file_is_not_written_twice() {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(None, place.path()).unwrap();
    folder.write("key", b"one").unwrap();
    assert_eq!(folder.write("key", b"two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
}

#[test]
fn it_is_gone_when_dropped_and_when_removed() {
    let place = tempfile::tempdir().unwrap();
    for end in [drop, |folder: RunFolder| folder.remove().unwrap()] {
        let folder = RunFolder::create(None, place.path()).unwrap();
        folder.write("key", b"secret").unwrap();
        end(folder);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

#[test]
fn an_unusable_runtime_directory_is_passed_over() {
    let place = tempfile::tempdir().unwrap();
    for unusable in ["relative", "/absent/folder", ""] {
        let folder = RunFolder::create(Some(Path::new(unusable)), place.path()).unwrap();
        assert!(folder.path().starts_with(place.path()));
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
