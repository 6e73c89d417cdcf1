//! Parses the address of a forward proxy.
//!
//! The rules are those of Go (`net/url`, and `portMap` of `net/http/transport.go`, Go 1.26). Everything after the port is ignored.

use std::fmt;

use percent_encoding::percent_decode_str;
use rustls_pki_types::ServerName;

/// A forward proxy between watchtap and an API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardProxy {
    /// The protocol of the connection to it.
    pub scheme: Scheme,
    /// Host name or IP address, without brackets.
    pub host: String,
    /// TCP port; the default of the scheme if the address has none.
    pub port: u16,
    /// User name and password for the proxy, if the address has them.
    pub credentials: Option<Credentials>,
    /// The name that its certificate must have, if it uses TLS.
    pub server_name: ServerName<'static>,
}

/// The protocol of the connection to a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP CONNECT (RFC 9110 §9.3.6).
    Http,
    /// HTTP CONNECT within TLS.
    Https,
    /// SOCKS 5 (RFC 1928). `socks5` and `socks5h` are the same: the proxy resolves names, as in Go.
    Socks5,
}

/// Name and password for a proxy. `Debug` shows neither.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user name, percent-decoded.
    pub username: String,
    /// The password, percent-decoded; empty if there is none.
    pub password: String,
}

/// Why a proxy's address is invalid. The address is never quoted, since it may contain a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The address does not begin with a scheme such as `http://`.
    #[error("expected the address of a proxy with its scheme, such as http://HOST:PORT")]
    NoScheme,
    /// The scheme is not supported.
    #[error("the scheme of a proxy must be http, https, socks5 or socks5h")]
    UnknownScheme,
    /// The address has no host.
    #[error("the address of the proxy has no host")]
    NoHost,
    /// The host is neither a name nor an IP address.
    #[error("the host in the address of the proxy is neither a name nor an IP address")]
    Host,
    /// The port is not a number from 1 to 65535.
    #[error("the port in the address of the proxy is not a number from 1 to 65535")]
    Port,
    /// The user name or password is not UTF-8 text in percent encoding.
    #[error("the user name or password in the address of the proxy is not UTF-8 text in percent encoding")]
    Credentials,
}

impl ForwardProxy {
    /// Parses an address such as `http://user:password@proxy.example:3128`.
    pub fn parse(address: &str) -> Result<Self, AddressError> {
        let (scheme, rest) = address.split_once("://").ok_or(AddressError::NoScheme)?;
        let scheme = Scheme::parse(scheme).ok_or(AddressError::UnknownScheme)?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, host_and_port) = match authority.rsplit_once('@') {
            Some((user, rest)) => (Some(user), rest),
            None => (None, authority),
        };
        let (host, port) = split_port(host_and_port);
        if host.is_empty() {
            return Err(AddressError::NoHost);
        }
        let port = match port {
            "" => scheme.usual_port(),
            digits => digits.parse().ok().filter(|port| *port > 0).ok_or(AddressError::Port)?,
        };
        let server_name = ServerName::try_from(host.to_owned()).map_err(|_neither| AddressError::Host)?;
        let credentials = user.map(Credentials::parse).transpose()?;
        Ok(Self { scheme, host: host.to_owned(), port, credentials, server_name })
    }
}

/// Splits `[host]:port`, `host:port` or either without its port.
fn split_port(text: &str) -> (&str, &str) {
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        return (host, rest.strip_prefix(':').unwrap_or(rest));
    }
    text.rsplit_once(':').unwrap_or((text, ""))
}

impl Scheme {
    fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            "socks5" | "socks5h" => Some(Self::Socks5),
            _ => None,
        }
    }

    fn usual_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
            Self::Socks5 => 1080,
        }
    }
}

impl Credentials {
    fn parse(text: &str) -> Result<Self, AddressError> {
        let (username, password) = text.split_once(':').unwrap_or((text, ""));
        let decode =
            |text: &str| percent_decode_str(text).decode_utf8().map(String::from).map_err(|_bytes| AddressError::Credentials);
        Ok(Self { username: decode(username)?, password: decode(password)? })
    }
}

/// The address without user name and password.
impl fmt::Display for ForwardProxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
            Scheme::Socks5 => "socks5",
        };
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(formatter, "{scheme}://{open}{}{close}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Credentials").finish_non_exhaustive()
    }
}
