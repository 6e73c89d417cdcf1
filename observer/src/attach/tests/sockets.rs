//! Sockets, and the folders in which they are found.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, SystemTime};

use socket2::{Domain, SockAddr, Socket, Type};

use super::super::folders::Folders;
use super::super::link::{Link, LinkError};
use super::super::socket::{AttachSocket, check_length};

#[test]
fn socket_is_private_and_replaces_only_a_dead_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sock");
    drop(UnixListener::bind(&path).unwrap());
    let socket = AttachSocket::bind_at(&path).unwrap();
    assert_eq!(fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    assert!(AttachSocket::bind_at(&path).unwrap_err().to_string().contains("another run listens there"));
    drop(socket);
    assert!(!path.exists());

    let target = folder.path().join("target");
    fs::write(&target, "kept").unwrap();
    symlink(&target, &path).unwrap();
    for (path, part) in [(&path, "is no socket"), (&target, "is no socket"), (&folder.path().join("x".repeat(120)), "too long")] {
        let error = format!("{:#}", AttachSocket::bind_at(path).unwrap_err());
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
}

#[test]
fn socket_that_another_run_replaced_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sock");
    let first = AttachSocket::bind_at(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let second = AttachSocket::bind_at(&path).unwrap();
    drop(first);
    assert!(path.exists());
    drop(second);
    assert!(!path.exists());
}

#[test]
fn sockets_of_killed_runs_are_removed_and_open_folders_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folders = Folders::of_user(None, folder.path());
    let own = folders.create().unwrap();
    assert_eq!(fs::metadata(&own).unwrap().permissions().mode() & 0o777, 0o700);
    drop(UnixListener::bind(own.join("attach-1.sock")).unwrap());
    fs::write(own.join("attach-2.sock"), "no socket").unwrap();
    let living = UnixListener::bind(own.join("attach-3.sock")).unwrap();
    assert_eq!(folders.socket_of(1), None);
    assert!(!own.join("attach-1.sock").exists() && own.join("attach-2.sock").exists());
    assert_eq!(folders.socket_of(3), Some(own.join("attach-3.sock")));
    drop(living);
    fs::set_permissions(&own, Permissions::from_mode(0o755)).unwrap();
    let error = folders.create().unwrap_err().to_string();
    assert!(error.contains("has the mode 0755; it must be 0700"), "{error}");
    assert!(folders.find().is_empty(), "others could have put sockets there");
}

#[test]
fn run_uses_the_first_folder_that_is_private() {
    let (runtime, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::set_permissions(runtime.path(), Permissions::from_mode(0o700)).unwrap();
    let folders = Folders::of_user(Some(runtime.path()), temporary.path());
    let preferred = folders.create().unwrap();
    assert_eq!(preferred, runtime.path().join("watchtap"));
    fs::set_permissions(&preferred, Permissions::from_mode(0o755)).unwrap();
    let other = folders.create().unwrap();
    assert!(other.starts_with(temporary.path()), "{}", other.display());
    fs::set_permissions(&other, Permissions::from_mode(0o755)).unwrap();
    let error = folders.create().unwrap_err().to_string();
    assert!(error.starts_with(&preferred.display().to_string()), "the preferred one is named: {error}");
}

#[test]
fn folder_that_a_killed_run_left_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let folders = Folders::of_user(None, folder.path());
    let own = folders.create().unwrap();
    let [left, new] = [".a1b2c3", ".d4e5f6"].map(|name| own.join(name));
    for path in [&left, &new] {
        fs::create_dir(path).unwrap();
        drop(UnixListener::bind(path.join("s")).unwrap());
    }
    fs::File::open(&left).unwrap().set_modified(SystemTime::now() - Duration::from_hours(1)).unwrap();
    folders.create().unwrap();
    assert_eq!([left.exists(), new.exists()], [false, true], "another run is about to give its socket a name");
}

#[test]
fn run_with_a_full_queue_does_not_answer_and_a_file_is_no_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let _not_served = AttachSocket::bind_at(&path).unwrap();
    let waiting: Vec<Socket> = std::iter::from_fn(|| {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket.connect(&SockAddr::unix(&path).unwrap()).is_ok().then_some(socket)
    })
    .collect();
    assert!(matches!(Link::connect(&path).unwrap_err(), LinkError::Silent), "{} connections wait", waiting.len());
    for path in [folder.path(), Path::new("/dev/null")] {
        assert!(matches!(Link::connect(path).unwrap_err(), LinkError::NoSocket { .. }), "{}", path.display());
    }
}

#[test]
fn link_in_place_of_the_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folders = Folders::of_user(None, folder.path());
    let own = folders.create().unwrap();
    fs::remove_dir(&own).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, Permissions::from_mode(0o700)).unwrap();
    symlink(&elsewhere, &own).unwrap();
    assert!(folders.create().unwrap_err().to_string().contains("is not a folder"));
}

#[test]
fn path_of_a_pod_has_room_for_a_socket() {
    use crate::pod_layout::{ATTACH_SOCKET, OWN};
    check_length(&Path::new(OWN).join(ATTACH_SOCKET)).unwrap();
}
