//! The API servers that a probe observes, identified by the remote addresses of sockets.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use super::upstream;
use super::upstream_flags::KubeconfigFlags;
use crate::kubeconfig::{Error as KubeconfigError, Kubeconfig, Selected, ServerTrust};
use crate::pipeline::Upstream;

/// The CA of the API server, as pods have it (kubernetes/client-go `rest/config.go`, `InClusterConfig`, v0.34).
const AUTHORITY_IN_PODS: &str = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
/// The number of addresses that the kernel programs can match.
const MOST_ADDRESSES: usize = 64;

/// Flags that name the API servers to observe.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ApiServerFlags {
    /// Address of an API server, as its clients dial it; may be given several times. Default: the server of the kubeconfig's
    /// current context, or in a pod without a kubeconfig the server of its cluster. Pods dial the address of the cluster's service,
    /// and their sockets keep it, since kube-proxy translates packets: to see pods from a node, give that address, too
    #[arg(long = "api-server", value_name = "HOST:PORT", value_parser = host_and_port)]
    api_servers: Vec<HostAndPort>,

    #[command(flatten)]
    kubeconfig: KubeconfigFlags,
}

/// A name or IP address, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HostAndPort {
    /// IPv6 addresses have no brackets here.
    host: String,
    port: u16,
}

/// An API server that the probe observes.
#[derive(Clone, Debug)]
pub(super) struct ApiServer {
    /// Its name in reports.
    name: String,
    /// All addresses that its name resolves to.
    addresses: Vec<SocketAddr>,
    /// The endpoint and credentials of our own requests to it.
    selected: Selected,
    /// Whether our own requests verify its certificate.
    is_verified: bool,
}

impl ApiServerFlags {
    /// Finds the API servers that the flags or the environment name, and resolves their names.
    pub(super) async fn find(&self) -> Result<Vec<ApiServer>> {
        let servers = self.servers(ServiceInPod::of_environment().as_ref())?;
        let mut found = Vec::new();
        let mut taken = BTreeSet::new();
        for mut server in servers {
            let Selected { upstream, .. } = &server.selected;
            let looked_up = tokio::net::lookup_host((upstream.host.as_str(), upstream.port)).await;
            let looked_up = looked_up.with_context(|| format!("cannot look up the API server {}", server.name))?;
            server.addresses = looked_up.map(canonical).filter(|address| taken.insert(*address)).collect();
            // An earlier server has all of its addresses already.
            if !server.addresses.is_empty() {
                found.push(server);
            }
        }
        ensure!(
            taken.len() <= MOST_ADDRESSES,
            "the API servers have {} addresses, and a probe looks for {MOST_ADDRESSES} at most; give fewer with --api-server",
            taken.len()
        );
        Ok(found)
    }

    fn servers(&self, in_pod: Option<&ServiceInPod>) -> Result<Vec<ApiServer>> {
        let current = self.kubeconfig.load().and_then(|kubeconfig| Ok(kubeconfig.current()?));
        if !self.api_servers.is_empty() {
            let current = match current {
                Err(error) if self.kubeconfig.is_given() => return Err(error),
                // The flags replace it and did not ask for it, so an error does not matter.
                current => current.ok(),
            };
            return self.api_servers.iter().map(|server| server.known_by(current.as_ref())).collect();
        }
        match (current, in_pod) {
            (Ok(current), _) => Ok(vec![ApiServer::of_context(current)?]),
            (Err(error), Some(service)) if self.may_lack(&error) => Ok(vec![service.server()?]),
            (Err(error), None) if self.may_lack(&error) => Err(error.context(
                "no API server to look for: give --api-server HOST:PORT, or on a node --kubeconfig /etc/kubernetes/kubelet.conf",
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

impl ApiServer {
    fn of_context(selected: Selected) -> Result<Self> {
        let name = upstream::name(&selected);
        if let Some(proxy) = &selected.forward_proxy {
            bail!(
                "clients reach {name} through the forward proxy of their kubeconfig, so their sockets lead there; if only the API server is \
                 reached through it, give its own address with --api-server (it is {proxy})"
            );
        }
        Ok(Self { name, addresses: Vec::new(), is_verified: !selected.insecure_skip_tls_verify, selected })
    }

    /// Its name in reports.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The addresses that its clients connect to.
    pub(super) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The endpoint and credentials of our own requests to it.
    pub(super) fn selected(&self) -> &Selected {
        &self.selected
    }

    /// Whether its certificate is verified, so that the version it reports can be trusted.
    pub(super) fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// One [`Upstream`] per address for the observing thread, without a server profile.
    pub(super) fn upstreams(&self) -> impl Iterator<Item = Upstream> {
        let path_prefix = &self.selected.upstream.path_prefix;
        self.addresses.iter().map(|listener| Upstream {
            listener: *listener,
            name: self.name.clone(),
            path_prefix: path_prefix.clone(),
            profile: None,
        })
    }
}

impl HostAndPort {
    /// The server at this address. It is the kubeconfig's if host and port are the same, otherwise one whose certificate we cannot
    /// verify.
    fn known_by(&self, current: Option<&Selected>) -> Result<ApiServer> {
        let is_current =
            |selected: &&Selected| selected.upstream.port == self.port && selected.upstream.host.eq_ignore_ascii_case(&self.host);
        if let Some(selected) = current.filter(is_current) {
            return ApiServer::of_context(selected.without_forward_proxy());
        }
        let name = self.to_string();
        let selected = Kubeconfig::of_server(&format!("https://{name}"), &ServerTrust::Anybody, "--api-server")?.current()?;
        Ok(ApiServer { name, addresses: Vec::new(), selected, is_verified: false })
    }
}

impl std::fmt::Display for HostAndPort {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(formatter, "[{host}]:{port}") } else { write!(formatter, "{host}:{port}") }
    }
}

/// The API server as the environment of each pod describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ServiceInPod {
    at: HostAndPort,
    authority: Option<PathBuf>,
}

impl ServiceInPod {
    fn of_environment() -> Option<Self> {
        let host = std::env::var("KUBERNETES_SERVICE_HOST").ok()?;
        let port = std::env::var("KUBERNETES_SERVICE_PORT").ok()?.parse().ok()?;
        let authority = Path::new(AUTHORITY_IN_PODS);
        Some(Self { at: HostAndPort { host, port }, authority: authority.exists().then(|| authority.to_owned()) })
    }

    fn server(&self) -> Result<ApiServer> {
        let (name, trust) = match &self.authority {
            Some(authority) => (self.at.to_string(), ServerTrust::Authority(authority.clone())),
            None => (self.at.to_string(), ServerTrust::Anybody),
        };
        let selected = Kubeconfig::of_server(&format!("https://{name}"), &trust, "KUBERNETES_SERVICE_HOST")?.current()?;
        Ok(ApiServer { name, addresses: Vec::new(), selected, is_verified: self.authority.is_some() })
    }
}

/// The form in which the kernel programs report addresses.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Parses `HOST:PORT` for clap, which adds the flag to an error.
fn host_and_port(text: &str) -> Result<HostAndPort, String> {
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
    Ok(HostAndPort { host, port })
}

/// A note that a server's certificate cannot be verified.
pub(super) fn unverified(server: &ApiServer) -> String {
    format!(
        "nobody vouches here for {}: it is believed what it says of its version; a kubeconfig that leads to it, or --server-version, mends that",
        server.name()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(text: &str) -> HostAndPort {
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
    fn server_of_the_kubeconfig_is_known_by_its_address() {
        let of_kubeconfig = Kubeconfig::of_server("https://API.example.com:6443/prefix", &ServerTrust::SystemRoots, "--upstream")
            .unwrap()
            .current()
            .unwrap();
        let known = server("api.example.com:6443").known_by(Some(&of_kubeconfig)).unwrap();
        assert_eq!((known.name(), known.is_verified()), ("API.example.com:6443/prefix", true));
        for other in ["api.example.com:443", "10.0.0.1:6443"] {
            let unknown = server(other).known_by(Some(&of_kubeconfig)).unwrap();
            assert_eq!((unknown.name(), unknown.is_verified()), (other, false));
        }
    }

    #[test]
    fn service_of_a_pod_is_the_last_resort() {
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = |name| KubeconfigFlags::of_file(folder.path().join(name));
        let service = ServiceInPod { at: server("[fd00::1]:443"), authority: None };
        let given = ApiServerFlags { api_servers: vec![], kubeconfig: kubeconfig("missing") };
        let error = given.servers(Some(&service)).unwrap_err();
        assert!(matches!(error.downcast_ref(), Some(KubeconfigError::NoFile { .. })), "it was asked for: {error}");

        let names = |flags: &ApiServerFlags| flags.servers(Some(&service)).unwrap().into_iter().map(|server| server.name).collect();
        let no_flags: Vec<String> = names(&ApiServerFlags::default());
        assert!(no_flags.len() == 1, "the service, or that of this machine's kubeconfig");
        let by_address = ApiServerFlags { api_servers: vec![server("10.0.0.1:6443")], ..ApiServerFlags::default() };
        let by_address: Vec<String> = names(&by_address);
        assert_eq!(by_address, ["10.0.0.1:6443"]);
    }
}
