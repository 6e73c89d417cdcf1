//! The client of a request.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::lifecycle::Exchange;
use crate::http::Identity;

/// A client, numbered from 1 in order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientId(pub u64);

impl fmt::Display for ClientId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// User agents that libraries and scaffolds send for each program that sets none: the official Python client, Go's net/http,
/// controller-runtime's `cmd/manager`, requests of Python, okhttp of Java, and fabric8.
const LIBRARY_DEFAULTS: [&str; 6] =
    ["OpenAPI-Generator", "Go-http-client", "manager", "python-requests", "okhttp", "fabric8-kubernetes-client"];

/// A client, as far as a request identifies it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Client {
    /// In a pod, the name of the container that it runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_name: Option<String>,
    /// Name and version: the first product of `User-Agent`; empty when there is none.
    pub program: String,
    /// Identity that the credential carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// The `Kubectl-Command` header, such as `kubectl get`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubectl_command: Option<String>,
}

impl Client {
    /// The client of an exchange.
    pub fn of(exchange: &Exchange) -> Self {
        let request = &exchange.request;
        Self {
            container_name: exchange.container_name.clone(),
            program: Self::program_of(exchange).to_owned(),
            identity: request.identity.clone(),
            kubectl_command: request.kubectl_command.clone(),
        }
    }

    /// The program without its version; empty if the client has no name.
    pub fn program_name(&self) -> &str {
        self.program.split('/').next().unwrap_or_default()
    }

    /// The user of a client that has no name, or only the default of a library: `NAMESPACE/NAME` of a ServiceAccount. `None` for
    /// other clients, and if it is no ServiceAccount.
    pub fn user_of_unnamed(&self) -> Option<String> {
        let program = self.program_name();
        match &self.identity {
            Some(Identity::ServiceAccount { namespace, name }) if program.is_empty() || LIBRARY_DEFAULTS.contains(&program) => {
                Some(format!("{namespace}/{name}"))
            }
            _ => None,
        }
    }

    /// Name and version of the program that sent a request.
    pub(super) fn program_of(exchange: &Exchange) -> &str {
        exchange.request.product().unwrap_or_default()
    }
}
