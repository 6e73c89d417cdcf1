//! The proxy that the environment names.

use std::ffi::OsString;

use super::address::{AddressError, ForwardProxy};
use super::no_proxy::NoProxy;

/// `HTTPS_PROXY` and `NO_PROXY`, or the same in small letters.
#[derive(Clone, Default)]
pub struct ProxyEnvironment {
    https_proxy: String,
    no_proxy: NoProxy,
}

impl ProxyEnvironment {
    /// Reads both; `variable` looks one up. Of the two spellings the capital letters win, and an empty value is none.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let either = |names: [&str; 2]| {
            let values = names.into_iter().filter_map(|name| variable(name)?.into_string().ok());
            values.into_iter().find(|value| !value.is_empty()).unwrap_or_default()
        };
        let no_proxy = NoProxy::parse(&either(["NO_PROXY", "no_proxy"]));
        Self { https_proxy: either(["HTTPS_PROXY", "https_proxy"]), no_proxy }
    }

    /// The proxy for the API server at `host` (without brackets) and `port`; `None` when it is reached directly.
    ///
    /// As in Go, an address without a scheme is that of an HTTP proxy. One that cannot be understood is an error, where Go makes of most a
    /// proxy that nobody can reach.
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

/// A password may be in it.
impl std::fmt::Debug for ProxyEnvironment {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ProxyEnvironment").field("no_proxy", &self.no_proxy).finish_non_exhaustive()
    }
}
