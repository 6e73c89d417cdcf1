//! Who makes a request.

use serde::Serialize;

use super::lifecycle::Exchange;
use crate::http::Identity;

/// Who asked, as far as the request tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Client {
    /// Name and version, the first product of `User-Agent`; empty when there is none.
    pub program: String,
    /// Whom the credential names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// Such as `kubectl get`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubectl_command: Option<String>,
}

impl Client {
    /// The client of an exchange.
    pub fn of(exchange: &Exchange) -> Self {
        let request = &exchange.request;
        let product = request.user_agent.as_deref().and_then(|agent| agent.split_whitespace().next());
        Self {
            program: product.unwrap_or_default().to_owned(),
            identity: request.identity.clone(),
            kubectl_command: request.kubectl_command.clone(),
        }
    }
}
