//! Flags for the socket to which `watchtap attach` connects, of every command that observes live.

use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result};
use clap::Args;

use crate::attach::{AttachServer, AttachSocket, Folders, ServedRun};
use crate::error_chain;
use crate::memory_budget::{AttachedPages, MemoryBudget};
use crate::pipeline::SnapshotSource;
use crate::printable::print_message;

/// Whether and where `watchtap attach` finds the run.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AttachFlags {
    /// Socket for `watchtap attach --socket`; only you and root can connect [default: one that `watchtap attach` finds by itself]
    #[arg(long, value_name = "PATH", help_heading = "Attach")]
    attach_socket: Option<PathBuf>,

    /// Offer no socket for `watchtap attach`
    #[arg(long, conflicts_with = "attach_socket", help_heading = "Attach")]
    no_attach: bool,
}

/// A socket that listens, and the snapshots for it. Processes that connect wait until the run is served.
pub(crate) struct ReadyToAttach {
    /// Whether the flags name the socket.
    is_named: bool,
    socket: AttachSocket,
    snapshots: SnapshotSource,
    pages: AttachedPages,
}

impl AttachFlags {
    /// Binds the socket; `None` if there is none. `fixed` is its path if the flags name none; without either, it is found by its
    /// process ID. Only a socket that the flags name can make
    /// the run fail, here and in [`ReadyToAttach::serve`].
    pub(crate) fn bind(
        &self,
        fixed: Option<&Path>,
        snapshots: impl FnOnce() -> SnapshotSource,
        memory: &MemoryBudget,
    ) -> Result<Option<ReadyToAttach>> {
        if self.no_attach {
            return Ok(None);
        }
        let bound = match (&self.attach_socket, fixed) {
            (Some(path), _) => {
                Ok(AttachSocket::bind_at(path).context("no socket for watchtap attach (--attach-socket, --no-attach)")?)
            }
            (None, Some(path)) => AttachSocket::bind_at(path),
            (None, None) => attach_folders().bind(),
        };
        let socket = match bound {
            Ok(socket) => socket,
            Err(error) => {
                print_message(not_found(&error));
                return Ok(None);
            }
        };
        tracing::debug!("watchtap attach reaches this run at {}", socket.path().display());
        let (is_named, pages) = (self.attach_socket.is_some(), memory.pages);
        Ok(Some(ReadyToAttach { is_named, socket, snapshots: snapshots(), pages }))
    }
}

impl ReadyToAttach {
    /// The socket's path if the flags name it.
    pub(crate) fn named(&self) -> Option<&Path> {
        self.is_named.then(|| self.socket.path())
    }

    /// Serves the run until the result is dropped; `None` if the system has no thread for it.
    pub(crate) fn serve(self, run: ServedRun) -> Result<Option<AttachServer>> {
        let Self { is_named, socket, snapshots, pages } = self;
        unless_named(is_named, AttachServer::start(socket, run, snapshots, pages).context("cannot serve watchtap attach"))
    }
}

/// Prints why processes cannot attach, unless the flags name the socket: the run does not depend on it.
fn unless_named<T>(is_named: bool, served: Result<T>) -> Result<Option<T>> {
    match served {
        Err(error) if !is_named => {
            print_message(not_found(&error));
            Ok(None)
        }
        served => served.map(Some),
    }
}

fn not_found(error: &Error) -> String {
    let why = error_chain::in_words(error.as_ref());
    format!("watchtap attach will not find this run: {why} (--attach-socket PATH, --no-attach)")
}

/// The folders of this user's sockets.
pub(crate) fn attach_folders() -> Folders {
    let runtime_directory = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    Folders::of_user(runtime_directory.as_deref(), &std::env::temp_dir())
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn run_continues_without_a_socket_that_no_flag_names() {
        let failed = || Err::<(), _>(anyhow!("Resource temporarily unavailable").context("cannot serve watchtap attach"));
        assert!(unless_named(false, failed()).unwrap().is_none());
        assert!(unless_named(true, failed()).unwrap_err().to_string().contains("cannot serve"));
        assert!(unless_named(false, Ok(())).unwrap().is_some());
        assert!(not_found(&failed().unwrap_err()).contains("Resource temporarily unavailable (--attach-socket PATH"));
    }
}
