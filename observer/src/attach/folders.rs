//! The private folders in which runs of one user have their sockets, and the runs that are found there.
//!
//! There are two: one in the runtime directory (`XDG_RUNTIME_DIR`), and, where there is none, one in the folder for temporary
//! files, as tmux(1) has. A run uses the first that is private. An attached process searches both, because a run may have been
//! started with another environment.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow};
use rustix::process::geteuid;

use super::link::{Link, LinkError};
use super::protocol::About;
use super::socket::{AttachSocket, PathState, bind, state};
use crate::kubeconfig::{check_directory, check_own_directory};

/// The name of a socket is this, the process ID, and `.sock`.
const PREFIX: &str = "attach-";
const SUFFIX: &str = ".sock";

/// A run binds its socket in a moment ([`super::socket`]). A folder for that purpose which is older than this belongs to no run.
const OLD: Duration = Duration::from_mins(1);

/// The folders that sockets may be in, the preferred one first.
#[derive(Clone, Debug)]
pub(crate) struct Folders(Vec<PathBuf>);

/// A run that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) pid: u32,
    pub(crate) socket: PathBuf,
    /// Its answer.
    pub(crate) about: Result<About, LinkError>,
}

impl Folders {
    /// Those of this user. `runtime_directory` is the value of `XDG_RUNTIME_DIR`; it is not used unless it is private.
    pub(crate) fn of_user(runtime_directory: Option<&Path>, temporary_folder: &Path) -> Self {
        let runtime_directory = runtime_directory.filter(|directory| check_directory(directory).is_ok());
        let preferred = runtime_directory.map(|directory| directory.join("watchtap"));
        let shared = temporary_folder.join(format!("watchtap-{}", geteuid().as_raw()));
        Self(preferred.into_iter().chain([shared]).collect())
    }

    /// A socket with the name of this process.
    pub(crate) fn bind(&self) -> Result<AttachSocket> {
        let mut tries = 0;
        loop {
            let folder = self.create()?;
            match bind(&folder.join(format!("{PREFIX}{}{SUFFIX}", std::process::id()))) {
                // Another run has just ended, and has removed the folder with its socket.
                Err(_) if !folder.exists() && tries < 3 => tries += 1,
                bound => return bound.map(|socket| socket.with_own_folder(folder)),
            }
        }
    }

    /// The first folder that is private, for a new socket. It is created if it does not exist. Sockets in it of runs that were
    /// killed are removed.
    pub(super) fn create(&self) -> Result<PathBuf> {
        let mut refused = None;
        for folder in &self.0 {
            match prepare(folder) {
                Ok(()) => return Ok(folder.clone()),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or_else(|| anyhow!("there is no folder for it")))
    }

    /// The socket of a process; `None` if it has none.
    pub(crate) fn socket_of(&self, pid: u32) -> Option<PathBuf> {
        self.sockets().into_iter().find(|(of, _)| *of == pid).map(|(_, path)| path)
    }

    /// All runs, ordered by process ID.
    pub(crate) fn find(&self) -> Vec<Found> {
        self.sockets().into_iter().map(|(pid, socket)| Found { pid, about: Link::about(&socket), socket }).collect()
    }

    /// The sockets of processes that exist. Others are removed.
    fn sockets(&self) -> Vec<(u32, PathBuf)> {
        let private = self.0.iter().filter(|folder| check_own_directory(folder).is_ok());
        let mut sockets: Vec<_> = private.flat_map(|folder| sockets_in(folder)).collect();
        sockets.retain(|(_, path)| match state(path) {
            Ok(PathState::InUse) => true,
            Ok(PathState::Dead) => {
                let _removed = fs::remove_file(path);
                false
            }
            Ok(PathState::Free | PathState::NoSocket) | Err(_) => false,
        });
        sockets.sort();
        sockets
    }
}

/// Creates a folder if it does not exist, and checks that it is private.
fn prepare(folder: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(anyhow!(error).context(format!("cannot create {}", folder.display())));
        }
        Ok(()) | Err(_) => {}
    }
    check_own_directory(folder).map_err(|why| anyhow!("{} {why}", folder.display()))?;
    for (_, dead) in sockets_in(folder).into_iter().filter(|(_, path)| state(path).ok() == Some(PathState::Dead)) {
        // Another run may have removed it already.
        let _removed = fs::remove_file(dead);
    }
    for left in entries(folder).filter(|path| is_left(path)) {
        let _removed = fs::remove_dir_all(left);
    }
    Ok(())
}

/// The paths in a folder that have the name of a socket. A folder that cannot be read has none.
fn sockets_in(folder: &Path) -> Vec<(u32, PathBuf)> {
    entries(folder).filter_map(|path| Some((pid_of(path.file_name()?.to_str()?)?, path))).collect()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Whether a run that was killed has left this folder.
fn is_left(path: &Path) -> bool {
    let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let age = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir).and_then(|there| there.modified().ok()?.elapsed().ok());
    is_hidden && age.is_some_and(|age| age >= OLD)
}

fn pid_of(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}
