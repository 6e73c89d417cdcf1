//! The libraries of client and server.

use serde::Serialize;

use super::scenario::{Load, Scenario};

/// The HTTP and TLS library that client and server have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stack {
    /// hyper and rustls
    Hyper,
    /// net/http and crypto/tls of Go, as in kube-apiserver and client-go
    Go,
}

impl Stack {
    pub(super) const ALL: [Self; 2] = [Self::Hyper, Self::Go];

    /// Display name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Hyper => "hyper",
            Self::Go => "Go",
        }
    }

    /// Whether `scenario` is measured with it. The memory of an idle connection is the proxy's own, whatever the library of its peers.
    pub(super) fn has(self, scenario: Scenario) -> bool {
        self == Self::Hyper || scenario.load() != Load::Idle
    }
}
