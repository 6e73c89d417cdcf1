//! Parses the address of an API server: `server` and `tls-server-name` of a kubeconfig's cluster.

use std::net::SocketAddr;

use http::uri::Authority;
use rustls_pki_types::ServerName;

use super::error::{Error, Location};

/// The address of the API server, and the name to check its certificate with. It always uses TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Host name or IP address, without brackets.
    pub host: String,
    /// TCP port; 443 if the kubeconfig has none.
    pub port: u16,
    /// The path before `/api` in every request, as in `/k8s/clusters/c-1`; empty for most servers.
    pub path_prefix: String,
    /// `tls-server-name`, for a certificate with another name than `host`.
    pub tls_server_name: Option<String>,
    /// The name for SNI, which the certificate must have: `tls_server_name`, otherwise `host`.
    pub server_name: ServerName<'static>,
}

/// The scheme of the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Https,
    Http,
    /// The address has no scheme. client-go then uses TLS if the kubeconfig has TLS settings, such as a CA.
    Unsaid,
}

impl Scheme {
    /// Splits a `server` value into its scheme and the rest: host, port and path.
    pub(super) fn split<'a>(location: &Location, server: &'a str) -> Result<(Self, &'a str), Error> {
        let Some((scheme, rest)) = server.split_once("://") else { return Ok((Self::Unsaid, server)) };
        if scheme.eq_ignore_ascii_case("https") {
            Ok((Self::Https, rest))
        } else if scheme.eq_ignore_ascii_case("http") {
            Ok((Self::Http, rest))
        } else {
            Err(Error::Server { location: location.clone(), what: format!("{scheme:?} is not a scheme of an API server") })
        }
    }
}

impl Upstream {
    /// Parses host, port and path of the `server` in the cluster at `cluster`. Query and fragment are ignored, as in client-go.
    pub(super) fn parse(cluster: &Location, rest: &str, tls_server_name: Option<&str>) -> Result<Self, Error> {
        let wrong = |what: &str| Error::Server { location: cluster.child("server"), what: what.to_owned() };
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = rest.find('/').and_then(|slash| rest.split_at_checked(slash)).unwrap_or((rest, ""));
        let authority: Authority = authority.parse().map_err(|error| wrong(&format!("host and port are malformed ({error})")))?;
        if authority.as_str().contains('@') {
            return Err(wrong("a user name in the address is not supported; put it into the user entry"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(wrong("it has no host"));
        }
        let port = port(&authority).ok_or_else(|| wrong("the port is not a number from 1 to 65535"))?;
        let server_name = match tls_server_name {
            Some(name) => ServerName::try_from(name.to_owned()).map_err(|_invalid| Error::WrongType {
                location: cluster.child("tls-server-name"),
                what: "expected a host name".to_owned(),
            })?,
            None => ServerName::try_from(host.clone()).map_err(|_invalid| wrong("the host is neither a name nor an IP address"))?,
        };
        let path_prefix = if path == "/" { String::new() } else { path.to_owned() };
        Ok(Self { host, port, path_prefix, tls_server_name: tls_server_name.map(str::to_owned), server_name })
    }
}

impl Upstream {
    /// The `server` that leads to `listener` in the client's copy of the kubeconfig.
    pub fn client_server(&self, listener: SocketAddr) -> String {
        format!("https://{listener}{}", self.path_prefix)
    }
}

/// The port of an address: 443 if it has none, or `None` if it is invalid. As in Go, a colon without digits also means 443.
fn port(authority: &Authority) -> Option<u16> {
    let behind_host = authority.as_str().get(authority.host().len()..)?;
    match behind_host.strip_prefix(':') {
        None | Some("") => Some(443),
        Some(digits) => digits.parse().ok().filter(|port| *port > 0),
    }
}
