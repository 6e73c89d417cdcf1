//! The server profiles of one run: from flags, otherwise learned from each API server.

use clap::Args;
use observer_core::routing::ServerProfile;

use super::profile_flags::ProfileFlags;
use super::upstream;
use crate::kubeconfig::Selected;
use crate::printable::print_message;

/// Flags for server profiles, and for the requests that learn them. They apply to all API servers.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Profiles {
    #[command(flatten)]
    flags: ProfileFlags,

    /// Do not request /version; without --server-version every verdict is then unknown
    #[arg(long)]
    no_version_request: bool,

    /// Do not request /metrics, which reports feature gates and watch caches; their defaults are then assumed
    #[arg(long)]
    no_metrics_request: bool,
}

impl Profiles {
    /// The profile of any server if no request is needed; `None` if each server must be asked.
    pub(super) fn without_asking(&self) -> Option<ServerProfile> {
        let needs_no_answer = self.flags.server_version.is_some() || self.no_version_request;
        needs_no_answer.then(|| self.flags.over(ServerProfile::default()))
    }

    /// The profile of the server of `selected`, which is asked if necessary. Flags without effect are reported.
    pub(super) async fn learn(&self, selected: &Selected) -> ServerProfile {
        let profile = match self.without_asking() {
            Some(profile) => profile,
            None => self.flags.over(upstream::learn(selected, !self.no_metrics_request).await),
        };
        for sentence in ProfileFlags::without_effect(&profile) {
            print_message(sentence);
        }
        profile
    }
}
