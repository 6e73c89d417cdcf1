//! Where an API server listens.

use std::fmt;

/// Host and port of an API server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UpstreamEndpoint {
    /// A DNS name, or an IP address without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

impl fmt::Display for UpstreamEndpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(formatter, "[{}]:{}", self.host, self.port);
        }
        write!(formatter, "{}:{}", self.host, self.port)
    }
}
