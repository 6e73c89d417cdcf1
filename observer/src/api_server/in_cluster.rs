//! The API server of the cluster that watchtap runs in, as the environment variables of a pod describe it.

use std::path::{Path, PathBuf};

use super::UpstreamEndpoint;
use crate::kubeconfig::{Error, Kubeconfig, Selected, ServerTrust};

/// The file in which a pod has the CA of its API server (kubernetes/client-go `rest/config.go`, `InClusterConfig`, v0.34).
const AUTHORITY_IN_PODS: &str = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

/// The API server that the environment variables of this pod describe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServiceInPod {
    /// Its host and port.
    pub at: UpstreamEndpoint,
    /// The path of its CA file; `None` if the pod has no such file.
    pub authority: Option<PathBuf>,
}

impl ServiceInPod {
    /// Reads the environment variables; returns `None` outside of a pod.
    pub(crate) fn of_environment() -> Option<Self> {
        let host = std::env::var("KUBERNETES_SERVICE_HOST").ok()?;
        let port = std::env::var("KUBERNETES_SERVICE_PORT").ok()?.parse().ok()?;
        let authority = Path::new(AUTHORITY_IN_PODS);
        Some(Self { at: UpstreamEndpoint { host, port }, authority: authority.exists().then(|| authority.to_owned()) })
    }

    /// A context for requests to it, without a user. Without a CA, any certificate is accepted.
    pub(crate) fn selected(&self) -> Result<Selected, Error> {
        let trust = self.authority.clone().map_or(ServerTrust::Anybody, ServerTrust::Authority);
        Kubeconfig::of_server(&format!("https://{}", self.at), &trust, "KUBERNETES_SERVICE_HOST")?.current()
    }
}
