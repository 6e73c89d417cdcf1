//! The API server of the cluster that watchtap runs in, as the environment variables of a pod describe it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[cfg(all(target_os = "linux", feature = "ebpf"))]
use anyhow::Context as _;
use rustls_pki_types::ServerName;
use thiserror::Error;

use super::UpstreamEndpoint;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
use crate::kubeconfig::BearerToken;
use crate::kubeconfig::{self, Kubeconfig, Selected, ServerTrust};
use crate::pod_layout::SERVICE_ACCOUNT;

/// The variables that the kubelet sets in every container (kubernetes/client-go `rest/config.go`, `InClusterConfig`, v0.34).
const HOST: &str = "KUBERNETES_SERVICE_HOST";
const PORT: &str = "KUBERNETES_SERVICE_PORT";

#[cfg(all(target_os = "linux", feature = "ebpf"))]
const NO_CREDENTIAL: &str = "the pod has no credential; set automountServiceAccountToken: true in its spec";

/// Whether this is a container of a pod, as far as its variables show.
#[cfg(all(target_os = "linux", feature = "ebpf"))]
pub(crate) fn is_in_pod() -> bool {
    std::env::var_os(HOST).is_some()
}

/// The API server that the environment variables of this pod describe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServiceInPod {
    /// Its host and port.
    pub at: UpstreamEndpoint,
    /// The path of its CA file; `None` if the pod has no such file.
    pub authority: Option<PathBuf>,
}

/// Why the environment describes no API server.
#[derive(Debug, Error)]
pub(crate) enum NotInPod {
    /// The kubelet sets the variable, so this is no container of a pod.
    #[error(
        "{variable} is not set, so this is no container of a pod; `watchtap inject` puts watchtap into pods. Elsewhere, \
         `watchtap run` observes clients with a kubeconfig"
    )]
    NotSet {
        /// The name of the variable.
        variable: &'static str,
    },
    /// The variable has another value than the kubelet gives it.
    #[error("{variable} is `{value}`, which is not {expected}; leave it to the kubelet, which sets it in every container")]
    Wrong {
        /// The name of the variable.
        variable: &'static str,
        /// The text that was found there.
        value: String,
        /// The kind of value that is expected.
        expected: &'static str,
    },
}

impl ServiceInPod {
    /// Reads the environment variables; returns `None` outside of a pod.
    #[cfg(all(target_os = "linux", feature = "ebpf"))]
    pub(crate) fn of_environment() -> Option<Self> {
        let Self { at, authority } = Self::required().ok()?;
        Some(Self { at, authority: authority.filter(|file| file.exists()) })
    }

    /// Reads the environment variables of a pod. Whether there is a CA file is not checked here.
    pub(crate) fn required() -> Result<Self, NotInPod> {
        Self::of(std::env::var_os)
    }

    fn of(variable: impl Fn(&'static str) -> Option<OsString>) -> Result<Self, NotInPod> {
        // client-go, too, treats an empty value as none.
        let set = |name| variable(name).filter(|value| !value.is_empty()).ok_or(NotInPod::NotSet { variable: name });
        let (host, port) = (set(HOST)?, set(PORT)?);
        let wrong = |variable, value: &OsString, expected| NotInPod::Wrong {
            variable,
            value: value.to_string_lossy().into_owned(),
            expected,
        };
        let is_host = |host: &&str| ServerName::try_from(*host).is_ok();
        let text = host.to_str().filter(is_host).ok_or_else(|| wrong(HOST, &host, "a name or an IP address"))?;
        let number = port.to_str().and_then(|port| port.parse().ok()).filter(|port| *port > 0);
        let port = number.ok_or_else(|| wrong(PORT, &port, "a port"))?;
        let authority = Some(Path::new(SERVICE_ACCOUNT).join("ca.crt"));
        Ok(Self { at: UpstreamEndpoint { host: text.to_owned(), port }, authority })
    }

    /// A context for requests to it, without a user. Without a CA, any certificate is accepted.
    pub(crate) fn selected(&self) -> Result<Selected, kubeconfig::Error> {
        let trust = self.authority.clone().map_or(ServerTrust::Anybody, ServerTrust::Authority);
        Kubeconfig::of_server(&format!("https://{}", self.at), &trust, HOST)?.current()
    }

    /// A context for requests to it as the pod's service account, whose token is beside the CA file. The token is sent only to a
    /// server that is verified.
    #[cfg(all(target_os = "linux", feature = "ebpf"))]
    pub(crate) fn as_service_account(&self) -> anyhow::Result<Selected> {
        let folder = self.authority.as_deref().and_then(Path::parent);
        let token = folder.context(NO_CREDENTIAL)?.join("token");
        anyhow::ensure!(token.exists(), NO_CREDENTIAL);
        let mut selected = self.selected()?;
        selected.bearer_token = BearerToken::File(token);
        Ok(selected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(host: Option<&str>, port: Option<&str>) -> Result<ServiceInPod, NotInPod> {
        ServiceInPod::of(|name| if name == HOST { host } else { port }.map(OsString::from))
    }

    #[test]
    fn api_server_is_at_the_host_and_port_that_kubelet_sets() {
        for (host, shown) in
            [("10.96.0.1", "10.96.0.1:443"), ("fd00::1", "[fd00::1]:443"), ("api.aks.example", "api.aks.example:443")]
        {
            let service = of(Some(host), Some("443")).unwrap();
            assert_eq!((service.at.to_string().as_str(), service.at.host.as_str()), (shown, host));
            assert_eq!(service.authority.as_deref(), Some(Path::new("/var/run/secrets/kubernetes.io/serviceaccount/ca.crt")));
        }
    }

    #[test]
    fn missing_or_wrong_variable_is_named_with_the_remedy() {
        for (host, port, words) in [
            (None, Some("443"), ["KUBERNETES_SERVICE_HOST is not set", "watchtap inject"]),
            (Some(""), Some("443"), ["KUBERNETES_SERVICE_HOST is not set", "watchtap inject"]),
            (Some("10.96.0.1"), None, ["KUBERNETES_SERVICE_PORT is not set", "watchtap inject"]),
            (Some("10.96.0.1/x"), Some("443"), ["KUBERNETES_SERVICE_HOST is `10.96.0.1/x`", "a name or an IP address"]),
            (Some("10.96.0.1"), Some("tcp://10.96.0.1:443"), ["KUBERNETES_SERVICE_PORT is `tcp://10.96.0.1:443`", "not a port"]),
            (Some("10.96.0.1"), Some("0"), ["KUBERNETES_SERVICE_PORT is `0`", "leave it to the kubelet"]),
        ] {
            let error = of(host, port).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}
