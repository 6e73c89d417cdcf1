//! The files that lead clients to the listeners of a run, and what keeps them up to date.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::binding::Binding;
use super::pod::Trust;
use super::private_folder::{folder_variable, private_folder, runtime_directory};
use super::stand_in::StandIn;
use crate::credential::CredentialServer;
use crate::kubeconfig::{Kubeconfig, RunFolder};
use crate::printable::print_message;

/// Either a kubeconfig copy, or the files in the volumes of a pod.
#[derive(Debug)]
pub(super) struct ClientFiles {
    /// The private folder of the kubeconfig copy. `None` in a pod, and after its removal.
    folder: Option<RunFolder>,
    /// See [`super::TapSet::kubeconfigs`].
    kubeconfigs: Vec<PathBuf>,
    /// `None` if nothing has to run for the files, and after it was started.
    upkeep: Option<Upkeep>,
}

/// A task beside the listeners, without which the files would stop to work.
#[derive(Debug)]
pub(super) enum Upkeep {
    /// Gives credentials to the clients of users with exec plugins.
    Credentials(CredentialServer),
    /// Writes `ca.crt` of a pod again when the cluster's CA changes.
    Trust(Trust),
}

impl ClientFiles {
    /// Writes a private copy of `kubeconfig` that leads to the listeners.
    pub(super) fn kubeconfig(kubeconfig: &Kubeconfig, binding: &mut Binding<'_>) -> Result<Self> {
        let folder = private_folder()?;
        let stand_in = StandIn::new(&folder)?;
        let copy = kubeconfig.client_copy(&binding.ways(&stand_in.in_place(&stand_in.arguments())));
        let upkeep = stand_in.listen(binding.keeper()?)?.map(Upkeep::Credentials);
        let file = folder.write("kubeconfig", copy.text.as_bytes()).context("cannot write the private kubeconfig")?;
        let kubeconfigs = std::iter::once(file).chain(copy.beside).collect();
        Ok(Self { folder: Some(folder), kubeconfigs, upkeep })
    }

    /// The files in a volume of the pod, which are written. They stay after the run: a client that starts while the sidecar restarts
    /// needs them.
    pub(super) fn of_pod(trust: Trust) -> Self {
        Self { folder: None, kubeconfigs: Vec::new(), upkeep: Some(Upkeep::Trust(trust)) }
    }

    pub(super) fn kubeconfigs(&self) -> &[PathBuf] {
        &self.kubeconfigs
    }

    pub(super) fn kubeconfig_variable(&self) -> Result<OsString> {
        std::env::join_paths(&self.kubeconfigs).with_context(|| {
            let variable = self.kubeconfigs.first().map_or("TMPDIR", |own| folder_variable(own, runtime_directory().as_deref()));
            format!(
                "the path of a kubeconfig contains a colon, which KUBECONFIG cannot express; move it, or set {variable} to \
                 another folder"
            )
        })
    }

    pub(super) fn take_upkeep(&mut self) -> Option<Upkeep> {
        self.upkeep.take()
    }

    /// Removes the private files.
    pub(super) fn remove(&mut self) {
        if let Some(Err(error)) = self.folder.take().map(RunFolder::remove) {
            print_message(format!("the private folder of this run could not be removed: {error}"));
        }
    }
}

impl Upkeep {
    /// Runs until it is dropped.
    pub(super) async fn run(self) {
        match self {
            Self::Credentials(server) => server.serve().await,
            Self::Trust(trust) => trust.follow().await,
        }
    }
}
