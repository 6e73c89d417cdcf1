//! Flags for the socket to which `watchtap attach` connects, of every command that observes live.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::attach::{AttachServer, AttachSocket, Directories, ServedRun};
use crate::error_chain;
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
    socket: AttachSocket,
    snapshots: SnapshotSource,
}

impl AttachFlags {
    /// Binds the socket; `None` if there is none. `fixed` is its path if the flags name none; without either, it is found by its
    /// process ID. Only a socket that the flags name can make the run fail.
    pub(crate) fn bind(&self, fixed: Option<&Path>, snapshots: impl FnOnce() -> SnapshotSource) -> Result<Option<ReadyToAttach>> {
        if self.no_attach {
            return Ok(None);
        }
        let bound = match (&self.attach_socket, fixed) {
            (Some(path), _) => {
                Ok(AttachSocket::bind_at(path).context("no socket for watchtap attach (--attach-socket, --no-attach)")?)
            }
            (None, Some(path)) => AttachSocket::bind_at(path),
            (None, None) => AttachSocket::bind_in(&directories()),
        };
        let socket = match bound {
            Ok(socket) => socket,
            Err(error) => {
                let why = error_chain::in_words(error.as_ref());
                print_message(format!("watchtap attach will not find this run: {why} (--attach-socket PATH, --no-attach)"));
                return Ok(None);
            }
        };
        tracing::debug!("watchtap attach reaches this run at {}", socket.path().display());
        Ok(Some(ReadyToAttach { socket, snapshots: snapshots() }))
    }
}

impl ReadyToAttach {
    /// Serves the run until the result is dropped.
    pub(crate) fn serve(self, run: ServedRun) -> Result<AttachServer> {
        AttachServer::start(self.socket, run, self.snapshots).context("cannot serve watchtap attach")
    }
}

/// The directories of this user's sockets.
pub(crate) fn directories() -> Directories {
    let runtime_directory = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    Directories::of_user(runtime_directory.as_deref(), &std::env::temp_dir())
}
