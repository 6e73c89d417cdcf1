//! The Service of the webhook, as `--service NAME.NAMESPACE` names it.

use std::fmt;
use std::str::FromStr;

use crate::dns_label::is_dns_label;

/// The Service by which the API server reaches the webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceName {
    name: String,
    namespace: String,
}

/// The text names no Service.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is not the name of a Service; write NAME.NAMESPACE, such as watchtap.watchtap-system")]
pub struct NotAService {
    text: String,
}

impl ServiceName {
    /// The Service's own name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace, which has the webhook's Secret, too.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }
}

impl FromStr for ServiceName {
    type Err = NotAService;

    fn from_str(text: &str) -> Result<Self, NotAService> {
        let parts = text.split_once('.').filter(|(name, namespace)| is_dns_label(name) && is_dns_label(namespace));
        let (name, namespace) = parts.ok_or_else(|| NotAService { text: text.to_owned() })?;
        Ok(Self { name: name.to_owned(), namespace: namespace.to_owned() })
    }
}

impl fmt::Display for ServiceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.name, self.namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_has_a_name_and_a_namespace() {
        let service: ServiceName = "watchtap.watchtap-system".parse().unwrap();
        assert_eq!((service.name(), service.namespace()), ("watchtap", "watchtap-system"));
        assert_eq!(service.to_string(), "watchtap.watchtap-system");
    }

    #[test]
    fn other_texts_are_refused_with_the_form() {
        let long = format!("{}.system", "a".repeat(64));
        for text in ["", "watchtap", "watchtap.", ".system", "a.b.svc", "A.b", "a_b.c", "-a.b", "a-.b", "a/../b.c", &long] {
            let error = text.parse::<ServiceName>().unwrap_err().to_string();
            assert!(error.contains("write NAME.NAMESPACE") && error.contains(text), "{error}");
        }
    }
}
