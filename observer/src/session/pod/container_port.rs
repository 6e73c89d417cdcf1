//! A container of the pod, and the port to which its clients connect.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use anyhow::{Context, Error, Result, bail, ensure};

use crate::api_server::UpstreamEndpoint;
use crate::dns_label::is_dns_label;
use crate::pod_layout::MOST_CONTAINERS;

/// A container whose clients are observed.
///
/// Processes of other containers cannot be looked up, unless the pod shares its PID namespace. So the port identifies the
/// container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContainerPort {
    /// The container's name.
    pub(crate) name: String,
    port: u16,
}

/// The lowest port that needs no privilege, unless the pod sets `net.ipv4.ip_unprivileged_port_start`.
const FIRST_PORT: u16 = 1024;
/// Ports at which the JavaScript client speaks plain HTTP (kubernetes-client/javascript `src/config.ts`, `loadFromCluster`).
const PLAIN_HTTP: [u16; 2] = [8001, 8080];
/// From here on, the system gives ports to outgoing connections (`net.ipv4.ip_local_port_range`), unless it is configured
/// otherwise.
const FIRST_EPHEMERAL_PORT: u16 = 32768;

/// The remedy for a port of the sidecar that another container of the pod uses.
pub(crate) const DECLARE_PORT: &str =
    "declare the port in the other container's `ports`, and run `watchtap inject` again, which then chooses another one";

impl ContainerPort {
    /// The address to which the container's clients connect. All containers of a pod share its loopback interface.
    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// One sentence for each container whose port may be taken while the sidecar restarts.
    pub(crate) fn warnings(containers: &[Self]) -> Vec<String> {
        let ephemeral = containers.iter().filter(|container| container.port >= FIRST_EPHEMERAL_PORT);
        let warning = |Self { name, port }: &Self| {
            format!(
                "--container {name}={port}: an outgoing connection may take this port while watchtap restarts; choose one below \
                 {FIRST_EPHEMERAL_PORT}"
            )
        };
        ephemeral.map(warning).collect()
    }

    /// Fails if the API server's address is the listener of one of `containers`: each connection would lead to the next one.
    pub(crate) fn check_upstream(containers: &[Self], at: &UpstreamEndpoint) -> Result<()> {
        let is_here = match at.host.parse::<IpAddr>() {
            Ok(address) => address.to_canonical().is_loopback() || address.to_canonical().is_unspecified(),
            Err(_name) => at.host.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        };
        if let Some(Self { name, port }) = containers.iter().find(|container| is_here && container.port == at.port) {
            bail!(
                "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT lead to {at}, where watchtap itself listens (--container \
                 {name}={port}). Only the observed containers need these values; leave those of watchtap's container to the kubelet"
            );
        }
        Ok(())
    }

    /// Fails if two containers share a name or a port.
    pub(crate) fn check(containers: &[Self]) -> Result<()> {
        ensure!(
            containers.len() <= MOST_CONTAINERS,
            "--container is given {} times; {MOST_CONTAINERS} are the limit",
            containers.len()
        );
        let (mut names, mut ports) = (BTreeSet::new(), BTreeSet::new());
        for Self { name, port } in containers {
            ensure!(names.insert(name), "--container {name}={port}: this container has another port already");
            ensure!(ports.insert(port), "--container {name}={port}: another container has this port already; choose one for each");
        }
        Ok(())
    }
}

impl FromStr for ContainerPort {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, port) = text.split_once('=').context("expected NAME=PORT, such as app=16443")?;
        ensure!(is_dns_label(name), "`{name}` is not the name of a container: lower-case letters, digits and `-`, 63 at most");
        let port: u16 = port.parse().ok().filter(|port| *port >= FIRST_PORT).with_context(|| {
            format!("`{port}` is not a port from {FIRST_PORT} to {}; the variables of the container name it", u16::MAX)
        })?;
        ensure!(!PLAIN_HTTP.contains(&port), "the JavaScript client speaks plain HTTP at port {port}; choose another one");
        Ok(Self { name: name.to_owned(), port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn container_has_a_name_and_a_port() {
        let port: ContainerPort = "app=16443".parse().unwrap();
        assert_eq!((port.name.as_str(), port.address().to_string().as_str()), ("app", "127.0.0.1:16443"));
        let longest = format!("{}=1024", "a".repeat(63));
        longest.parse::<ContainerPort>().unwrap();
        for (text, why) in [
            ("", "expected NAME=PORT"),
            ("app", "expected NAME=PORT"),
            ("=16443", "not the name"),
            ("App=16443", "not the name"),
            ("-app=16443", "not the name"),
            ("a\u{1b}[2J=16443", "not the name"),
            (&format!("a{longest}"), "not the name"),
            ("app=", "not a port"),
            ("app=0", "not a port"),
            ("app=443", "not a port"),
            ("app=65536", "not a port"),
            ("app=+16443x", "not a port"),
            ("app=8080", "plain HTTP"),
            ("app=8001", "plain HTTP"),
        ] {
            let error = text.parse::<ContainerPort>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn port_for_outgoing_connections_leads_to_a_warning() {
        let containers = ["app=32767", "other=32768"].map(|text| text.parse().unwrap());
        let warnings = ContainerPort::warnings(&containers);
        assert!(matches!(&warnings[..], [one] if one.starts_with("--container other=32768: ")), "{warnings:?}");
    }

    #[test]
    fn own_listener_is_no_api_server() {
        let containers: Vec<ContainerPort> = ["app=16443", "other=16444"].map(|text| text.parse().unwrap()).into();
        let check = |host: &str, port| {
            let at = UpstreamEndpoint { host: host.to_owned(), port };
            ContainerPort::check_upstream(&containers, &at).map_err(|error| error.to_string())
        };
        for host in ["127.0.0.1", "localhost", "LOCALHOST.", "0.0.0.0", "::1", "::ffff:127.0.0.1"] {
            let error = check(host, 16444).unwrap_err();
            assert!(error.contains("(--container other=16444)") && error.contains("KUBERNETES_SERVICE_HOST"), "{error}");
            check(host, 6443).unwrap();
        }
        check("10.96.0.1", 16443).unwrap();
        check("kubernetes.default.svc", 16443).unwrap();
    }

    #[test]
    fn names_and_ports_are_distinct() {
        let of = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<ContainerPort>>();
        ContainerPort::check(&of(&["app=16443", "other=16444"])).unwrap();
        for (texts, why) in [(["app=16443", "app=16444"], "another port"), (["app=16443", "other=16443"], "this port already")] {
            assert!(ContainerPort::check(&of(&texts)).unwrap_err().to_string().contains(why));
        }
    }
}
