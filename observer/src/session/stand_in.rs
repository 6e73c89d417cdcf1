//! Replaces exec plugins in the kubeconfig copy by `watchtap credential`, and gives it credentials during the run.

use std::path::Path;

use anyhow::{Context, Result};

use super::private_folder::{folder_variable, runtime_directory};
use crate::credential::{CredentialServer, Keeper};
use crate::kubeconfig::{PluginInPlace, RunFolder};

/// The command `watchtap credential`, as it appears in the kubeconfig copy.
#[derive(Debug)]
pub(super) struct StandIn {
    command: String,
    socket: String,
}

impl StandIn {
    /// The program of this process, with a socket in `folder`.
    pub(super) fn new(folder: &RunFolder) -> Result<Self> {
        let command = std::env::current_exe().context("cannot find the watchtap program, which stands in for exec plugins")?;
        Ok(Self { command: text(&command)?, socket: text(&folder.path().join("credentials"))? })
    }

    /// The arguments of the command, without the last one, which is the name of the user.
    pub(super) fn arguments(&self) -> [&str; 4] {
        ["credential", "--socket", &self.socket, "--"]
    }

    /// The plugin entry of the client's copy.
    pub(super) fn in_place<'a>(&'a self, arguments: &'a [&'a str]) -> PluginInPlace<'a> {
        PluginInPlace { command: &self.command, arguments }
    }

    /// Listens on the socket. Returns `None` if no user has a plugin.
    pub(super) fn listen(&self, keeper: Keeper) -> Result<Option<CredentialServer>> {
        if keeper.is_empty() {
            return Ok(None);
        }
        let bound = CredentialServer::bind(Path::new(&self.socket), keeper);
        bound.map(Some).with_context(|| {
            let variable = folder_variable(Path::new(&self.socket), runtime_directory().as_deref());
            format!("cannot listen at {}; set {variable} to a folder with a shorter path", self.socket)
        })
    }
}

fn text(path: &Path) -> Result<String> {
    let text = path.to_str().with_context(|| format!("{} is not UTF-8, as a kubeconfig requires", path.display()))?;
    Ok(text.to_owned())
}
