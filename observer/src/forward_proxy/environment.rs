//! The forward proxy that environment variables name for an API server.

use std::ffi::OsString;

use super::address::{AddressError, ForwardProxy};
use super::no_proxy::NoProxy;

/// The values of `HTTPS_PROXY` and `NO_PROXY`, or of the same variables in lower case.
#[derive(Clone, Default)]
pub struct ProxyEnvironment {
    https_proxy: String,
    no_proxy: NoProxy,
}

impl ProxyEnvironment {
    /// Reads both values. `variable` looks up one environment variable. Upper case takes precedence, and an empty value counts as
    /// unset.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let either = |names: [&str; 2]| {
            let values = names.into_iter().filter_map(|name| variable(name)?.into_string().ok());
            values.into_iter().find(|value| !value.is_empty()).unwrap_or_default()
        };
        let no_proxy = NoProxy::parse(&either(["NO_PROXY", "no_proxy"]));
        Self { https_proxy: either(["HTTPS_PROXY", "https_proxy"]), no_proxy }
    }

    /// The proxy for the API server at `host` (without brackets) and `port`; `None` if it is reached directly.
    ///
    /// As in Go, an address without a scheme is that of an HTTP proxy. An invalid address is an error; Go turns most of these into
    /// an unreachable proxy.
    pub fn forward_proxy(&self, host: &str, port: u16) -> Result<Option<ForwardProxy>, AddressError> {
        if self.https_proxy.is_empty() || self.no_proxy.covers(host, port) {
            return Ok(None);
        }
        match ForwardProxy::parse(&self.https_proxy) {
            Err(AddressError::NoScheme) => ForwardProxy::parse(&format!("http://{}", self.https_proxy)).map(Some),
            other => other.map(Some),
        }
    }
}

/// Shows no values, because the address may contain a password.
impl std::fmt::Debug for ProxyEnvironment {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ProxyEnvironment").field("no_proxy", &self.no_proxy).finish_non_exhaustive()
    }
}
