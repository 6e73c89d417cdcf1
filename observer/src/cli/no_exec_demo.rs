//! `watchtap exec --demo` in a build without the feature `demo`: there is no such flag.

use std::convert::Infallible;

use anyhow::Result;
use clap::Args;

use crate::kubeconfig::Kubeconfig;
use crate::session::Session;

/// No flags.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct DemoFlags {}

/// There is none.
pub(super) struct DemoCluster(Infallible);

impl DemoFlags {
    #[expect(clippy::unused_async, reason = "the flags of other builds have this method")]
    pub(super) async fn start(&self) -> Result<Option<DemoCluster>> {
        Ok(None)
    }
}

impl DemoCluster {
    pub(super) fn kubeconfig(&self) -> Result<Kubeconfig> {
        match self.0 {}
    }

    #[expect(clippy::unused_async, reason = "the cluster of other builds has this method")]
    pub(super) async fn play(&self, _session: &Session) -> Result<()> {
        match self.0 {}
    }
}
