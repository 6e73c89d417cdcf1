//! Flags that name the API servers of a probe.

use anyhow::{Context as _, Result};
use clap::Args;

use super::upstream::KubeconfigFlags;
use crate::api_server::{ServiceInPod, UpstreamEndpoint};
use crate::kubeconfig::Error as KubeconfigError;
use crate::session::{ObservedServer, ObservedServers};

/// Flags that name the API servers to observe.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ApiServerFlags {
    /// Address of an API server, as its clients dial it; may be given several times. A name is looked up again while the probe runs.
    /// The flag replaces the default: the server of the kubeconfig's current context, or in a pod without a kubeconfig the server of
    /// its cluster. Pods dial the cluster IP of the `kubernetes` Service, and their sockets still show it, since kube-proxy rewrites
    /// packets and not sockets. To see pods from a node, too, give the flag twice: with the cluster IP, and with the default address
    #[arg(long = "api-server", value_name = "HOST:PORT", value_parser = host_and_port)]
    api_servers: Vec<UpstreamEndpoint>,

    /// Run in a pod of the chart, which has one on each node. The API server of its cluster is observed also if --api-server or
    /// --kubeconfig names others. The probe first checks what this node allows, and logs what is missing. If no probe can run,
    /// watchtap does not exit: /ready of --metrics answers 503 with the reason
    #[arg(long)]
    in_cluster: bool,

    /// In a pod, do not request the EndpointSlice `kubernetes` in the namespace default. It has the addresses of the API servers
    /// themselves, which sockets of clients show if a network plugin replaces the cluster IP there (Cilium). It is requested at the
    /// start, and when nothing was seen of this API server for ten minutes
    #[arg(long)]
    no_endpoint_slice_request: bool,

    #[command(flatten)]
    kubeconfig: KubeconfigFlags,
}

impl ApiServerFlags {
    /// Whether the probe runs in a pod of the chart.
    pub(crate) const fn in_cluster(&self) -> bool {
        self.in_cluster
    }

    /// Finds the API servers that the flags or the environment name, and looks their names up.
    pub(crate) async fn find(&self) -> Result<ObservedServers> {
        let servers = self.servers(ServiceInPod::of_environment().as_ref())?;
        ObservedServers::find(servers, !self.no_endpoint_slice_request).await
    }

    fn servers(&self, in_pod: Option<&ServiceInPod>) -> Result<Vec<ObservedServer>> {
        if !self.in_cluster {
            return self.others(in_pod);
        }
        let service = in_pod.context(
            "--in-cluster takes the variables KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, which a kubelet sets in each \
             container; elsewhere, pass --api-server HOST:PORT",
        )?;
        let is_alone = self.api_servers.is_empty() && !self.kubeconfig.is_given();
        let others = if is_alone { Vec::new() } else { self.others(in_pod)? };
        Ok([vec![ObservedServer::in_pod(service)?], others].concat())
    }

    /// The servers that other flags name, or the default.
    fn others(&self, in_pod: Option<&ServiceInPod>) -> Result<Vec<ObservedServer>> {
        let current = self.kubeconfig.load().and_then(|kubeconfig| Ok(kubeconfig.current()?));
        if !self.api_servers.is_empty() {
            let current = match current {
                Err(error) if self.kubeconfig.is_given() => return Err(error),
                // The flags replace it and did not ask for it, so an error does not matter.
                current => current.ok(),
            };
            return self.api_servers.iter().map(|server| ObservedServer::at(server, current.as_ref(), in_pod)).collect();
        }
        match (current, in_pod) {
            (Ok(current), _) => Ok(vec![ObservedServer::of_context(current)?]),
            (Err(error), Some(service)) if self.may_lack(&error) => Ok(vec![ObservedServer::in_pod(service)?]),
            (Err(error), None) if self.may_lack(&error) => Err(error.context(
                "no API server to observe: pass --api-server HOST:PORT, or on a node --kubeconfig /etc/kubernetes/kubelet.conf",
            )),
            (Err(error), _) => Err(error),
        }
    }

    /// Whether the error is that no kubeconfig exists, and no flag asked for one.
    fn may_lack(&self, error: &anyhow::Error) -> bool {
        let is_missing = matches!(error.downcast_ref(), Some(KubeconfigError::NowhereToLook | KubeconfigError::NoFile { .. }));
        is_missing && !self.kubeconfig.is_given()
    }
}

/// Parses `HOST:PORT` for clap, which adds the flag to an error.
fn host_and_port(text: &str) -> Result<UpstreamEndpoint, String> {
    let expected = || "expected HOST:PORT, such as 10.0.0.1:6443, api.example.com:443 or [fd00::1]:6443".to_owned();
    let (host, port) = text.rsplit_once(':').ok_or_else(expected)?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_name = |host: &str| !host.is_empty() && !host.contains([':', '/', '@', '[', ']', ' ']);
    let host = match bare {
        Some(address) => address.parse::<std::net::Ipv6Addr>().map_err(|_error| expected())?.to_string(),
        None if is_name(host) => host.to_owned(),
        None => return Err(expected()),
    };
    let port = port.parse().ok().filter(|port| *port != 0).ok_or_else(expected)?;
    Ok(UpstreamEndpoint { host, port })
}

/// A note that a server's certificate cannot be verified.
pub(crate) fn unverified(server: &ObservedServer) -> String {
    format!(
        "cannot verify {}; trusting its reported version. To avoid that, pass a kubeconfig with this address, or \
         --server-version",
        server.name()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubeconfig::{Kubeconfig, ServerTrust};

    fn server(text: &str) -> UpstreamEndpoint {
        host_and_port(text).unwrap()
    }

    #[test]
    fn address_is_a_host_and_a_port() {
        for (text, shown) in [
            ("10.0.0.1:6443", "10.0.0.1:6443"),
            ("api.example.com:443", "api.example.com:443"),
            ("[fd00::0:1]:6443", "[fd00::1]:6443"),
        ] {
            assert_eq!(server(text).to_string(), shown);
        }
        for text in ["", ":", "api", "api:", "api:0", "api:65536", ":443", "fd00::1:6443", "[api]:443", "https://api:443", "a b:1"]
        {
            assert!(host_and_port(text).unwrap_err().contains("such as"), "{text}");
        }
    }

    #[test]
    fn kubeconfig_server_is_recognized_by_its_address() {
        let of_kubeconfig = Kubeconfig::of_server("https://API.example.com:6443/prefix", &ServerTrust::SystemRoots, "--upstream")
            .unwrap()
            .current()
            .unwrap();
        let known = ObservedServer::at(&server("api.example.com:6443"), Some(&of_kubeconfig), None).unwrap();
        assert_eq!((known.name(), known.is_verified()), ("API.example.com:6443/prefix", true));
        for other in ["api.example.com:443", "10.0.0.1:6443"] {
            let unknown = ObservedServer::at(&server(other), Some(&of_kubeconfig), None).unwrap();
            assert_eq!((unknown.name(), unknown.is_verified()), (other, false));
        }
    }

    #[test]
    fn in_pod_service_is_the_last_resort() {
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = |name| KubeconfigFlags::of_file(folder.path().join(name));
        let service = ServiceInPod { at: server("[fd00::1]:443"), authority: None };
        let given = ApiServerFlags { kubeconfig: kubeconfig("missing"), ..ApiServerFlags::default() };
        let error = given.servers(Some(&service)).unwrap_err();
        assert!(matches!(error.downcast_ref(), Some(KubeconfigError::NoFile { .. })), "it was asked for: {error}");

        let names = |flags: &ApiServerFlags| {
            flags.servers(Some(&service)).unwrap().into_iter().map(|server| server.name().to_owned()).collect()
        };
        let no_flags: Vec<String> = names(&ApiServerFlags::default());
        assert!(no_flags.len() == 1, "the service, or that of this machine's kubeconfig");
        let by_address = ApiServerFlags { api_servers: vec![server("10.0.0.1:6443")], ..ApiServerFlags::default() };
        let by_address_names: Vec<String> = names(&by_address);
        assert_eq!(by_address_names, ["10.0.0.1:6443"]);
        let both: Vec<String> = names(&ApiServerFlags { in_cluster: true, ..by_address });
        assert_eq!(both, ["[fd00::1]:443", "10.0.0.1:6443"]);
    }

    #[test]
    fn in_cluster_adds_the_service_to_the_others() {
        let service = ServiceInPod { at: server("10.96.0.1:443"), authority: None };
        for (others, expected) in
            [(vec![], &["10.96.0.1:443"][..]), (vec![server("10.0.0.1:6443")], &["10.96.0.1:443", "10.0.0.1:6443"])]
        {
            let flags = ApiServerFlags { api_servers: others, in_cluster: true, ..ApiServerFlags::default() };
            let servers = flags.servers(Some(&service)).unwrap();
            assert_eq!(servers.iter().map(ObservedServer::name).collect::<Vec<_>>(), expected);
            let error = flags.servers(None).unwrap_err().to_string();
            assert!(error.contains("KUBERNETES_SERVICE_HOST") && error.contains("--api-server"), "{error}");
        }
    }
}
