//! The API servers that a probe observes. The probe recognizes them by the remote addresses of sockets.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};

use super::address_renewal::{KnownAddresses, Resolver, SystemResolver};
use crate::api_server::{self, EndpointSliceReader, ServiceInPod, UpstreamEndpoint, UpstreamId};
use crate::kubeconfig::{Kubeconfig, Selected, ServerTrust};
use crate::pipeline::Upstream;
use crate::printable::print_message;

/// An API server that the probe observes.
#[derive(Clone, Debug)]
pub(crate) struct ObservedServer {
    /// Its identifier in this run.
    id: UpstreamId,
    /// Its name in reports.
    name: String,
    /// All addresses of its name at the start that are not of an earlier server.
    addresses: Vec<SocketAddr>,
    /// The endpoint and credentials of our own requests to it.
    selected: Selected,
    /// Whether our own requests verify its certificate.
    is_verified: bool,
    /// Its Service, if it is the server of the cluster that watchtap runs in.
    service: Option<ServiceInPod>,
}

/// All API servers that the probe observes.
#[derive(Clone, Debug)]
pub(crate) struct ObservedServers {
    servers: Vec<ObservedServer>,
    known: KnownAddresses,
    /// The server whose addresses are in an EndpointSlice.
    in_slice: Option<(UpstreamId, EndpointSliceReader)>,
}

impl ObservedServer {
    /// The API server of a context. Fails if clients reach it through a forward proxy.
    pub(crate) fn of_context(selected: Selected) -> Result<Self> {
        let name = api_server::name(&selected);
        if let Some(proxy) = &selected.forward_proxy {
            bail!(
                "clients reach {name} through the forward proxy {proxy} of their kubeconfig, so their connections lead to the \
                 proxy. If it serves only this API server, pass the proxy's address with --api-server"
            );
        }
        Ok(Self {
            id: UpstreamId::default(),
            name,
            addresses: Vec::new(),
            is_verified: !selected.insecure_skip_tls_verify,
            selected,
            service: None,
        })
    }

    /// The server at an address. If the kubeconfig's current server has the same host and port, it is that server; or that of this
    /// pod's cluster. Otherwise its certificate cannot be verified.
    pub(crate) fn at(endpoint: &UpstreamEndpoint, current: Option<&Selected>, in_pod: Option<&ServiceInPod>) -> Result<Self> {
        let is_current = |selected: &&Selected| {
            selected.upstream.port == endpoint.port && selected.upstream.host.eq_ignore_ascii_case(&endpoint.host)
        };
        if let Some(selected) = current.filter(is_current) {
            return Self::of_context(selected.without_forward_proxy());
        }
        if let Some(service) = in_pod.filter(|service| service.at == *endpoint) {
            return Self::in_pod(service);
        }
        let name = endpoint.to_string();
        let selected = Kubeconfig::of_server(&format!("https://{name}"), &ServerTrust::Anybody, "--api-server")?.current()?;
        Ok(Self { id: UpstreamId::default(), name, addresses: Vec::new(), selected, is_verified: false, service: None })
    }

    /// The API server of the pod that watchtap runs in.
    pub(crate) fn in_pod(service: &ServiceInPod) -> Result<Self> {
        let (name, selected) = (service.at.to_string(), service.selected()?);
        let (is_verified, service) = (service.authority.is_some(), Some(service.clone()));
        Ok(Self { id: UpstreamId::default(), name, addresses: Vec::new(), selected, is_verified, service })
    }

    /// Its identifier in this run.
    pub(crate) fn id(&self) -> UpstreamId {
        self.id
    }

    /// Its name in reports.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The addresses that its clients connect to.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The endpoint and credentials of our own requests to it.
    pub(crate) fn selected(&self) -> &Selected {
        &self.selected
    }

    /// Whether its certificate is verified, so that the version it reports can be trusted.
    pub(crate) fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// The server for the observing thread, without a profile.
    pub(crate) fn upstream(&self) -> Upstream {
        let (name, path_prefix) = (self.name.clone(), self.selected.upstream.path_prefix.clone());
        Upstream { id: self.id, name, path_prefix, profile: None }
    }
}

impl ObservedServers {
    /// Looks the names of `servers` up, and numbers them. If earlier servers have all addresses of a name, it is another name of the
    /// first of them. With `reads_slice`, the addresses in the EndpointSlice of this pod's cluster belong to its server, too.
    ///
    /// A name that cannot be looked up has no address at first, and a message is printed.
    ///
    /// # Errors
    ///
    /// No server has an address.
    pub(crate) async fn find(servers: Vec<ObservedServer>, reads_slice: bool) -> Result<Self> {
        let (found, unknown) = Self::find_by(&SystemResolver, servers, reads_slice).await?;
        unknown.into_iter().for_each(print_message);
        Ok(found)
    }

    /// As [`Self::find`]; also returns a message for each server without an address.
    async fn find_by(resolver: &dyn Resolver, servers: Vec<ObservedServer>, reads_slice: bool) -> Result<(Self, Vec<String>)> {
        let mut found = Self { servers: Vec::new(), known: KnownAddresses::default(), in_slice: None };
        let mut taken: BTreeMap<SocketAddr, UpstreamId> = BTreeMap::new();
        let mut failures = Vec::new();
        for mut server in servers {
            let Selected { upstream, .. } = &server.selected;
            let endpoint = UpstreamEndpoint { host: upstream.host.clone(), port: upstream.port };
            let addresses = looked_up(resolver, &endpoint, &server.name).await;
            let addresses = addresses.unwrap_or_else(|failure| {
                failures.push(failure);
                Vec::new()
            });
            let is_new = addresses.is_empty() || addresses.iter().any(|address| !taken.contains_key(address));
            let next = UpstreamId(u32::try_from(found.servers.len()).unwrap_or(u32::MAX));
            let first = addresses.first().and_then(|first| taken.get(first)).copied();
            server.id = first.filter(|_| !is_new).unwrap_or(next);
            server.addresses = addresses.iter().copied().filter(|address| !taken.contains_key(address)).collect();
            for address in &addresses {
                taken.entry(*address).or_insert(server.id);
            }
            found.known.add(server.id, endpoint, addresses);
            if let Some(service) = server.service.clone().filter(|_| reads_slice) {
                found.in_slice = Some((server.id, EndpointSliceReader::of(service)));
            }
            if is_new {
                found.servers.push(server);
            }
        }
        if taken.is_empty() && !failures.is_empty() {
            return Err(failures.swap_remove(0));
        }
        let unknown = failures.iter().map(|failure| format!("{failure:#}; its clients are not seen until it can be looked up"));
        Ok((found, unknown.collect()))
    }

    /// The servers in order of their numbers.
    pub(crate) fn all(&self) -> &[ObservedServer] {
        &self.servers
    }

    /// The server at each address.
    pub(crate) fn addresses(&self) -> BTreeMap<SocketAddr, UpstreamId> {
        self.known.servers()
    }

    /// Their known addresses, by server and source.
    pub(super) fn known(&self) -> &KnownAddresses {
        &self.known
    }

    /// The server of this pod's cluster, and the reader of its EndpointSlice.
    pub(super) fn in_slice(&self) -> Option<&(UpstreamId, EndpointSliceReader)> {
        self.in_slice.as_ref()
    }
}

/// The addresses of a server's name, at least one.
async fn looked_up(resolver: &dyn Resolver, endpoint: &UpstreamEndpoint, name: &str) -> Result<Vec<SocketAddr>> {
    let found = resolver.look_up(endpoint).await.with_context(|| format!("cannot look up the API server {name}"))?;
    ensure!(!found.is_empty(), "the API server {name} has no address");
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::pin::Pin;

    use super::*;

    /// Knows the addresses of names.
    struct Names(&'static [(&'static str, &'static [&'static str])]);

    impl Resolver for Names {
        fn look_up<'a>(
            &'a self,
            endpoint: &'a UpstreamEndpoint,
        ) -> Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>> {
            let found = self.0.iter().find(|(name, _)| *name == endpoint.host).map(|(_, addresses)| *addresses);
            let of = |address: &&str| SocketAddr::new(address.parse().unwrap(), endpoint.port);
            Box::pin(async move { Ok(found.ok_or(io::ErrorKind::NotFound)?.iter().map(of).collect()) })
        }
    }

    fn server(host: &str) -> ObservedServer {
        ObservedServer::at(&UpstreamEndpoint { host: host.to_owned(), port: 6443 }, None, None).unwrap()
    }

    #[tokio::test]
    async fn names_with_the_same_addresses_are_one_server() {
        let names = Names(&[
            ("one.example", &["10.0.0.1", "10.0.0.2"]),
            ("alias.example", &["10.0.0.2"]),
            ("two.example", &["10.0.0.2", "10.0.0.3"]),
        ]);
        let servers = ["one.example", "alias.example", "two.example"].map(server).to_vec();
        let (found, unknown) = ObservedServers::find_by(&names, servers, true).await.unwrap();
        assert_eq!(unknown, [""; 0]);
        let shown: Vec<_> = found.all().iter().map(|server| (server.id().0, server.name().to_owned())).collect();
        assert_eq!(shown, [(0, "one.example:6443".to_owned()), (1, "two.example:6443".to_owned())]);
        let by_address: Vec<String> =
            found.known().servers().into_iter().map(|(address, server)| format!("{address} {}", server.0)).collect();
        assert_eq!(by_address, ["10.0.0.1:6443 0", "10.0.0.2:6443 0", "10.0.0.3:6443 1"]);
        assert!(found.in_slice().is_none(), "none is the server of this pod's cluster");
    }

    #[tokio::test]
    async fn endpoint_slice_belongs_to_the_server_of_the_pods_cluster() {
        let names = Names(&[("10.96.0.1", &["10.96.0.1"]), ("10.0.0.1", &["10.0.0.1"])]);
        let at = UpstreamEndpoint { host: "10.96.0.1".to_owned(), port: 6443 };
        let service = ServiceInPod { at: at.clone(), authority: None };
        let servers = || vec![server("10.0.0.1"), ObservedServer::at(&at, None, Some(&service)).unwrap()];
        let (found, _) = ObservedServers::find_by(&names, servers(), true).await.unwrap();
        assert_eq!(found.in_slice().map(|(server, _)| server.0), Some(1));
        let (without, _) = ObservedServers::find_by(&names, servers(), false).await.unwrap();
        assert!(without.in_slice().is_none());
    }

    #[tokio::test]
    async fn probe_begins_without_the_names_that_cannot_be_looked_up() {
        let names = Names(&[("10.96.0.1", &["10.96.0.1"]), ("empty.example", &[]), ("one.example", &["10.0.0.1"])]);
        let servers = ["10.96.0.1", "missing.example", "empty.example", "one.example"].map(server).to_vec();
        let (found, unknown) = ObservedServers::find_by(&names, servers, true).await.unwrap();
        let [missing, empty] = unknown.as_slice() else { panic!("{unknown:?}") };
        assert!(missing.contains("cannot look up the API server missing.example:6443"), "{missing}");
        assert!(empty.contains("empty.example:6443 has no address; its clients are not seen until"), "{empty}");
        let shown: Vec<_> = found.all().iter().map(|server| (server.id().0, server.addresses().len())).collect();
        assert_eq!(shown, [(0, 1), (1, 0), (2, 0), (3, 1)]);
        assert_eq!(found.addresses().len(), 2);
    }

    #[tokio::test]
    async fn without_any_address_there_is_nothing_to_observe() {
        let names = Names(&[("empty.example", &[])]);
        for (host, expected) in
            [("missing.example", "cannot look up the API server missing.example:6443"), ("empty.example", "has no address")]
        {
            let error = ObservedServers::find_by(&names, vec![server(host)], true).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
