//! The words of labels of API servers and connections.

use super::word::words;
use crate::http::{Direction, Protocol};
use crate::routing::Basis;

words! {
    /// The source of an API server's version.
    SourceWord {
        /// A flag of watchtap.
        Flag = "flag",
        /// The server's own answer.
        VersionEndpoint = "version-endpoint",
        /// The server's answer to a client.
        ClientTraffic = "client-traffic",
        /// The server's own metrics.
        Metrics = "metrics",
        /// The default of a minor version.
        MinorDefault = "minor-default",
        /// That of most servers.
        Assumed = "assumed",
        /// None.
        Unknown = "unknown",
    }
}

words! {
    /// The protocol of a connection, by its name in ALPN.
    ProtocolWord {
        /// HTTP/1.0 or HTTP/1.1.
        Http1 = "http/1.1",
        /// HTTP/2.
        Http2 = "h2",
        /// ALPN was not observed.
        Unknown = "unknown",
    }
}

words! {
    /// The sender of a GOAWAY.
    SenderWord {
        /// It came from the client.
        Client = "client",
        /// The API server.
        Server = "server",
    }
}

words! {
    /// The direction of bytes.
    DirectionWord {
        /// From the client.
        Request = "request",
        /// From the API server.
        Response = "response",
    }
}

impl SourceWord {
    pub(crate) const fn of(basis: Basis) -> Self {
        match basis {
            Basis::Flag => Self::Flag,
            Basis::VersionEndpoint => Self::VersionEndpoint,
            Basis::ClientTraffic => Self::ClientTraffic,
            Basis::Metrics => Self::Metrics,
            Basis::MinorDefault => Self::MinorDefault,
            Basis::Assumed => Self::Assumed,
            Basis::Unknown => Self::Unknown,
        }
    }
}

impl ProtocolWord {
    pub(crate) const fn of(protocol: Option<Protocol>) -> Self {
        match protocol {
            Some(Protocol::Http1) => Self::Http1,
            Some(Protocol::Http2) => Self::Http2,
            None => Self::Unknown,
        }
    }
}

impl SenderWord {
    /// The sender of what was sent in this direction.
    pub(crate) const fn of(direction: Direction) -> Self {
        match direction {
            Direction::Request => Self::Client,
            Direction::Response => Self::Server,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_sources_and_protocols_are_those_of_the_report() {
        for basis in [
            Basis::Flag,
            Basis::VersionEndpoint,
            Basis::ClientTraffic,
            Basis::Metrics,
            Basis::MinorDefault,
            Basis::Assumed,
            Basis::Unknown,
        ] {
            assert_eq!(serde_json::to_value(basis).unwrap(), SourceWord::WORDS[SourceWord::of(basis) as usize]);
        }
        for protocol in [Protocol::Http1, Protocol::Http2] {
            let word = ProtocolWord::WORDS[ProtocolWord::of(Some(protocol)) as usize];
            assert_eq!(serde_json::to_value(protocol).unwrap(), word);
        }
    }
}
