//! `NO_PROXY`: the hosts to which clients connect directly, although there is a forward proxy.
//!
//! The rules are those of `config.init` and `config.useProxy` (golang.org/x/net `http/httpproxy/proxy.go`, v0.47), which client-go
//! uses through `http.ProxyFromEnvironment`. Go's conversion of entries with non-ASCII letters is left out: no kubeconfig that
//! watchtap can read has such a host.

use std::net::IpAddr;

use ipnet::IpNet;

/// The parsed entries of one `NO_PROXY` value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NoProxy {
    /// Whether `*` is among the entries, which exempts all hosts.
    everybody: bool,
    networks: Vec<IpNet>,
    addresses: Vec<(IpAddr, Port)>,
    domains: Vec<Domain>,
}

/// The port of an entry; empty for any port. It stays text, so that an invalid port matches nothing.
type Port = String;

/// A domain entry: `example.com` matches itself and its subdomains, `.example.com` and `*.example.com` match only subdomains.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Domain {
    /// Begins with a dot.
    suffix: String,
    with_itself: bool,
    port: Port,
}

impl NoProxy {
    /// Parses a comma-separated list, and skips invalid entries.
    pub(super) fn parse(list: &str) -> Self {
        let mut parsed = Self::default();
        for entry in list.split(',').map(|entry| entry.trim().to_lowercase()).filter(|entry| !entry.is_empty()) {
            if entry == "*" {
                return Self { everybody: true, ..Self::default() };
            }
            parsed.add(&entry);
        }
        parsed
    }

    /// Whether `host` (without brackets) is reached directly at `port`. Loopback always is.
    pub(super) fn covers(&self, host: &str, port: u16) -> bool {
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        if host == "localhost" || address.is_some_and(|address| address.is_loopback()) || self.everybody {
            return true;
        }
        let port = port.to_string();
        let fits = |wanted: &Port| wanted.is_empty() || *wanted == port;
        if let Some(address) = address {
            return self.networks.iter().any(|network| network.contains(&address))
                || self.addresses.iter().any(|(wanted, port)| *wanted == address && fits(port));
        }
        let host = host.trim().to_lowercase();
        self.domains.iter().any(|domain| domain.covers(&host) && fits(&domain.port))
    }

    fn add(&mut self, entry: &str) {
        if let Some(network) = network(entry) {
            self.networks.push(network);
            return;
        }
        let (host, port) = split_port(entry).unwrap_or((entry, ""));
        if let Ok(address) = host.parse::<IpAddr>() {
            self.addresses.push((address.to_canonical(), port.to_owned()));
            return;
        }
        let host = if host.starts_with("*.") { host.trim_start_matches('*') } else { host };
        if host.is_empty() {
            return;
        }
        let with_itself = !host.starts_with('.');
        let suffix = if with_itself { format!(".{host}") } else { host.to_owned() };
        self.domains.push(Domain { suffix, with_itself, port: port.to_owned() });
    }
}

impl Domain {
    fn covers(&self, host: &str) -> bool {
        host.ends_with(&self.suffix) || (self.with_itself && self.suffix.strip_prefix('.') == Some(host))
    }
}

/// Parses CIDR notation. An IPv4-mapped IPv6 network counts as IPv4, as in Go's `net.IPNet.Contains`.
fn network(entry: &str) -> Option<IpNet> {
    let network: IpNet = entry.parse().ok()?;
    let mapped = match network {
        IpNet::V6(network) => network.addr().to_ipv4_mapped().zip(network.prefix_len().checked_sub(96)),
        IpNet::V4(_) => None,
    };
    Some(mapped.and_then(|(address, length)| IpNet::new(address.into(), length).ok()).unwrap_or(network))
}

/// Go's `net.SplitHostPort`. Returns `None` if `entry` has no port, or if its colons are ambiguous.
fn split_port(entry: &str) -> Option<(&str, &str)> {
    let (host, port) = match entry.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, rest.strip_prefix(':')?)
        }
        None => entry.rsplit_once(':').filter(|(host, _)| !host.contains(':'))?,
    };
    let plain = !port.contains(':') && !host.contains(['[', ']']) && !port.contains(['[', ']']);
    plain.then_some((host, port))
}
