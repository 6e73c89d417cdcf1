//! Which API servers a probe looks for, by the addresses that sockets lead to.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use super::upstream;
use super::upstream_flags::KubeconfigFlags;
use crate::kubeconfig::{Error as KubeconfigError, Kubeconfig, Selected, ServerTrust};
use crate::observing::Upstream;

/// Where a pod has the authority that vouches for the API server (kubernetes/client-go `rest/config.go`, `InClusterConfig`, v0.34).
const AUTHORITY_IN_PODS: &str = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
/// Most addresses that the programs in the kernel look for.
const MOST_ADDRESSES: usize = 64;

/// Where the API servers are.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ApiServerFlags {
    /// An API server by the address that its clients dial, in place of the kubeconfig's; may be given several times. Pods dial the address of the
    /// cluster's service, and it stands in their sockets, since kube-proxy translates packets: to see pods from a node, give it, too. Without this
    /// flag it is the server of the kubeconfig's current context; in a pod without a kubeconfig that of its cluster
    #[arg(long = "api-server", value_name = "HOST:PORT", value_parser = host_and_port)]
    api_servers: Vec<HostAndPort>,

    #[command(flatten)]
    kubeconfig: KubeconfigFlags,
}

/// A name or address, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HostAndPort {
    /// An IPv6 address without its brackets.
    host: String,
    port: u16,
}

/// An API server.
#[derive(Clone, Debug)]
pub(super) struct ApiServer {
    /// What it is called in reports.
    name: String,
    /// All that its name stands for.
    addresses: Vec<SocketAddr>,
    /// How it is asked what it is.
    selected: Selected,
    /// Whether that has a way to know that it is the server which it takes it for.
    is_verified: bool,
}

impl ApiServerFlags {
    /// The API servers that the flags or the environment lead to, their names looked up.
    pub(super) async fn find(&self) -> Result<Vec<ApiServer>> {
        let servers = self.servers(ServiceInPod::of_environment().as_ref())?;
        let mut found = Vec::new();
        let mut taken = BTreeSet::new();
        for mut server in servers {
            let Selected { upstream, .. } = &server.selected;
            let looked_up = tokio::net::lookup_host((upstream.host.as_str(), upstream.port)).await;
            let looked_up = looked_up.with_context(|| format!("cannot look up the API server {}", server.name))?;
            server.addresses = looked_up.map(canonical).filter(|address| taken.insert(*address)).collect();
            // All of them are another one's already.
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
                // It is not needed, and nobody asked for it.
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

    /// Nobody asked for a kubeconfig, and there is none.
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

    /// What it is called in reports.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where its clients reach it.
    pub(super) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// How it is asked what it is.
    pub(super) fn selected(&self) -> &Selected {
        &self.selected
    }

    /// Whether what it says of itself is known to be its own word.
    pub(super) fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// What the observing is told of it, for each of its addresses: nothing is known yet.
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
    /// The server at this address: that of the kubeconfig, if it is the same, else one of which nobody knows who vouches for it.
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

/// The API server as each pod is told of it.
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

/// As the programs in the kernel tell addresses.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Reads `HOST:PORT`, for clap, which says which flag was wrong.
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

/// Why an API server is not known, for a note.
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
