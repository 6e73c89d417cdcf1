//! The address of a collector.

use std::fmt;
use std::net::IpAddr;

use http::Uri;

/// Where a signal is sent: the parts of a URL without user name and query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Whether the scheme is `https`.
    pub is_https: bool,
    /// A DNS name, or an IP address without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The path; begins with a slash.
    pub path: String,
}

/// Why a URL is no address of a collector. The URL is never quoted, since it may contain a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// It is no URL, or one of another scheme.
    #[error("expected the URL of a collector with its scheme, such as http://localhost:4318")]
    NotHttp,
    /// It contains a user name or a password.
    #[error("a user name in the URL is not supported: pass credentials in OTEL_EXPORTER_OTLP_HEADERS")]
    UserInfo,
    /// It contains a query.
    #[error("a query in the URL is not supported")]
    Query,
}

impl Endpoint {
    /// Parses the URL of one signal, which is used as it is.
    pub fn parse(url: &str) -> Result<Self, EndpointError> {
        let uri: Uri = url.trim().parse().or(Err(EndpointError::NotHttp))?;
        let is_https = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(EndpointError::NotHttp),
        };
        let authority = uri.authority().ok_or(EndpointError::NotHttp)?;
        if authority.as_str().contains('@') {
            return Err(EndpointError::UserInfo);
        }
        if uri.query().is_some() {
            return Err(EndpointError::Query);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        let written = authority.as_str().strip_prefix(authority.host()).unwrap_or_default();
        let port = match (written.strip_prefix(':'), authority.port_u16()) {
            (_, Some(port)) => port,
            (None | Some(""), None) if is_https => 443,
            (None | Some(""), None) => 80,
            (Some(_), None) => return Err(EndpointError::NotHttp),
        };
        if host.is_empty() || port == 0 {
            return Err(EndpointError::NotHttp);
        }
        Ok(Self { is_https, host: host.to_owned(), port, path: uri.path().to_owned() })
    }

    /// The address of a signal below this one, such as `v1/logs`.
    #[must_use]
    pub fn below(&self, signal: &str) -> Self {
        Self { path: format!("{}/{signal}", self.path.trim_end_matches('/')), ..self.clone() }
    }

    /// `scheme://host:port`, for messages: a path may hold a token.
    pub(super) fn origin(&self) -> String {
        format!("{}://{}", if self.is_https { "https" } else { "http" }, self.authority())
    }

    /// Whether it is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost") || self.host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
    }

    /// `host:port`, for the `Host` field.
    pub(super) fn authority(&self) -> String {
        if self.host.contains(':') { format!("[{}]:{}", self.host, self.port) } else { format!("{}:{}", self.host, self.port) }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.origin(), self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_is_split_into_its_parts() {
        for (url, expected) in [
            ("http://localhost:4318", "http://localhost:4318/v1/logs"),
            ("http://localhost:4318/", "http://localhost:4318/v1/logs"),
            ("http://collector", "http://collector:80/v1/logs"),
            ("https://otlp.example/otlp/", "https://otlp.example:443/otlp/v1/logs"),
            ("https://[::1]:9", "https://[::1]:9/v1/logs"),
            ("HTTP://Collector:1/x", "http://Collector:1/x/v1/logs"),
        ] {
            assert_eq!(Endpoint::parse(url).unwrap().below("v1/logs").to_string(), expected, "{url}");
        }
        assert_eq!(Endpoint::parse("http://[::1]:9/x").unwrap().host, "::1");
        assert_eq!(Endpoint::parse("http://[::1]:9/s3cr3t").unwrap().origin(), "http://[::1]:9");
    }

    #[test]
    fn loopback_is_recognised() {
        for (host, expected) in
            [("LocalHost", true), ("127.0.0.2", true), ("[::1]", true), ("10.0.0.1", false), ("localhost.x", false)]
        {
            assert_eq!(Endpoint::parse(&format!("http://{host}")).unwrap().is_loopback(), expected, "{host}");
        }
    }

    #[test]
    fn other_urls_are_refused_without_a_quotation() {
        for (url, expected) in [
            ("localhost:4318", EndpointError::NotHttp),
            ("", EndpointError::NotHttp),
            ("grpc://collector:4317", EndpointError::NotHttp),
            ("http://", EndpointError::NotHttp),
            ("http://:4318", EndpointError::NotHttp),
            ("http://x:99999", EndpointError::NotHttp),
            ("http://x:0", EndpointError::NotHttp),
            ("http://x y", EndpointError::NotHttp),
            ("http://user:s3cr3t@x", EndpointError::UserInfo),
            ("http://s3cr3t@x", EndpointError::UserInfo),
            ("http://x/?token=s3cr3t", EndpointError::Query),
        ] {
            let error = Endpoint::parse(url).unwrap_err();
            assert_eq!(error, expected, "{url}");
            assert!(!error.to_string().contains("s3cr3t"), "{error}");
        }
    }
}
