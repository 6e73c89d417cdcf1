//! The client of a request.

use serde::Serialize;

use super::lifecycle::Exchange;
use crate::http::Identity;

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

    /// Name and version of the program that sent a request.
    pub(super) fn program_of(exchange: &Exchange) -> &str {
        exchange.request.product().unwrap_or_default()
    }
}
