//! The API server of a pod's own cluster, as the environment of each pod describes it.

use std::path::{Path, PathBuf};

use super::UpstreamEndpoint;
use crate::kubeconfig::{Error, Kubeconfig, Selected, ServerTrust};

/// The CA of the API server, as pods have it (kubernetes/client-go `rest/config.go`, `InClusterConfig`, v0.34).
const AUTHORITY_IN_PODS: &str = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

/// The API server as the environment of each pod describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServiceInPod {
    /// Where it listens.
    pub at: UpstreamEndpoint,
    /// The file of its CA; `None` if the pod has none.
    pub authority: Option<PathBuf>,
}

impl ServiceInPod {
    /// `None` outside of a pod.
    pub(crate) fn of_environment() -> Option<Self> {
        let host = std::env::var("KUBERNETES_SERVICE_HOST").ok()?;
        let port = std::env::var("KUBERNETES_SERVICE_PORT").ok()?.parse().ok()?;
        let authority = Path::new(AUTHORITY_IN_PODS);
        Some(Self { at: UpstreamEndpoint { host, port }, authority: authority.exists().then(|| authority.to_owned()) })
    }

    /// The endpoint and trust of requests to it; without a CA, any certificate is accepted.
    pub(crate) fn selected(&self) -> Result<Selected, Error> {
        let trust = self.authority.clone().map_or(ServerTrust::Anybody, ServerTrust::Authority);
        Kubeconfig::of_server(&format!("https://{}", self.at), &trust, "KUBERNETES_SERVICE_HOST")?.current()
    }
}
