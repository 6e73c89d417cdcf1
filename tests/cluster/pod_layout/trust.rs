//! The folder that a container sees in place of its service account: certificates, and links into the volume that was moved aside.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

/// Writes `ca.crt` with these certificates in this order, and the links.
pub(super) fn trust(authorities: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ca.crt"), authorities.concat()).unwrap();
    for name in ["token", "namespace"] {
        symlink(Path::new("../../watchtap/serviceaccount").join(name), folder.path().join(name)).unwrap();
    }
    folder
}
