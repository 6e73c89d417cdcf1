//! What is known of the API servers behind the listeners of one run: from flags, else from each server itself.

use clap::Args;
use observer_core::routing::ServerProfile;

use super::output::say;
use super::profile_flags::ProfileFlags;
use super::upstream;
use crate::kubeconfig::Selected;

/// What the API servers are, and whether they are asked. Flags hold for all of them.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Profiles {
    #[command(flatten)]
    flags: ProfileFlags,

    /// Do not ask for /version; without --server-version every verdict is then unknown
    #[arg(long)]
    no_version_request: bool,

    /// Do not ask for /metrics, which tells feature gates and watch caches; they are then taken to be the defaults
    #[arg(long)]
    no_metrics_request: bool,
}

impl Profiles {
    /// What is known of any server without asking; `None` when it has to be asked.
    pub(super) fn without_asking(&self) -> Option<ServerProfile> {
        let needs_no_answer = self.flags.server_version.is_some() || self.no_version_request;
        needs_no_answer.then(|| self.flags.over(ServerProfile::default()))
    }

    /// What is known of the server of `selected`, which is asked for its version if need be. What of the flags has no effect is said.
    pub(super) async fn learn(&self, selected: &Selected) -> ServerProfile {
        let profile = match self.without_asking() {
            Some(profile) => profile,
            None => self.flags.over(upstream::learn(selected, !self.no_metrics_request).await),
        };
        for sentence in ProfileFlags::without_effect(&profile) {
            say(sentence);
        }
        profile
    }
}
