//! The private directories in which runs of one user have their sockets, and the runs that are found there.
//!
//! There are two: one in the runtime directory (`XDG_RUNTIME_DIR`), and, where there is none, one in the directory for temporary
//! files, as tmux(1) has. A run uses the first that is private. An attached process searches both, because a run may have been
//! started with another environment.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use rustix::process::geteuid;

use super::link::{Link, LinkError};
use super::protocol::About;
use super::socket::{PathState, state};
use crate::kubeconfig::{check_directory, check_own_directory};

/// The name of a socket is this, the process ID, and `.sock`.
const PREFIX: &str = "attach-";
const SUFFIX: &str = ".sock";

/// The directories that sockets may be in, the preferred one first.
#[derive(Clone, Debug)]
pub(crate) struct Directories(Vec<PathBuf>);

/// A run that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) pid: u32,
    pub(crate) socket: PathBuf,
    /// Its answer.
    pub(crate) about: Result<About, LinkError>,
}

impl Directories {
    /// Those of this user. `runtime_directory` is the value of `XDG_RUNTIME_DIR`; it is not used unless it is private.
    pub(crate) fn of_user(runtime_directory: Option<&Path>, temporary_directory: &Path) -> Self {
        let runtime_directory = runtime_directory.filter(|directory| check_directory(directory).is_ok());
        let preferred = runtime_directory.map(|directory| directory.join("watchtap"));
        let shared = temporary_directory.join(format!("watchtap-{}", geteuid().as_raw()));
        Self(preferred.into_iter().chain([shared]).collect())
    }

    /// The name of the socket of a process.
    pub(super) fn name(pid: u32) -> String {
        format!("{PREFIX}{pid}{SUFFIX}")
    }

    /// The first directory that is private, for a new socket. It is created if it does not exist. Sockets in it of runs that were
    /// killed are removed.
    pub(super) fn create(&self) -> Result<PathBuf> {
        let mut refused = None;
        for directory in &self.0 {
            match prepare(directory) {
                Ok(()) => return Ok(directory.clone()),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or_else(|| anyhow!("there is no directory for it")))
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
        let private = self.0.iter().filter(|directory| check_own_directory(directory).is_ok());
        let mut sockets: Vec<_> = private.flat_map(|directory| sockets_in(directory)).collect();
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

/// Creates a directory if it does not exist, and checks that it is private.
fn prepare(directory: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(anyhow!(error).context(format!("cannot create {}", directory.display())));
        }
        Ok(()) | Err(_) => {}
    }
    check_own_directory(directory).map_err(|why| anyhow!("{} {why}", directory.display()))?;
    for (_, dead) in sockets_in(directory).into_iter().filter(|(_, path)| state(path).ok() == Some(PathState::Dead)) {
        // Another run may have removed it already.
        let _removed = fs::remove_file(dead);
    }
    Ok(())
}

/// The paths in a directory that have the name of a socket. A directory that cannot be read has none.
fn sockets_in(directory: &Path) -> Vec<(u32, PathBuf)> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let named = entries.flatten().filter_map(|entry| Some((pid_of(entry.file_name().to_str()?)?, entry.path())));
    named.collect()
}

fn pid_of(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}
