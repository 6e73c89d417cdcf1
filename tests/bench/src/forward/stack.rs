//! The libraries of client and server.

use serde::Serialize;

use super::scenario::{Load, Scenario};

/// The HTTP and TLS libraries of client and server.
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

    /// Whether `scenario` is measured with these libraries. The proxy's memory for an idle connection does not depend on them, so
    /// it is measured only once.
    pub(super) fn has(self, scenario: Scenario) -> bool {
        self == Self::Hyper || scenario.load() != Load::Idle
    }
}
