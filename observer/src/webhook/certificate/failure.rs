//! Why a check failed, and what to do about it.

use std::fmt;

use hyper::StatusCode;
use observer_pki::AuthorityError;
use serde::Deserialize;

use super::ServiceName;
use super::agreement::NotDecided;
use crate::api_server::request::QuestionError;

/// Longest message of an API server that is quoted, in characters.
const LONGEST_QUOTED: usize = 500;
/// Shortest run of base64 that could be a part of a key.
const BASE64: usize = 40;

/// A request of the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    ReadSecret,
    WriteSecret,
    ReadConfiguration,
    WriteConfiguration,
}

/// The names of the two objects.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) service: ServiceName,
    pub(super) configuration: String,
}

/// Why a check failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// No connection, or no credential.
    #[error("no connection to the API server: {0}")]
    Unreachable(String),
    /// The connection failed, or no answer came in time.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// The answer is no success.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The answer is not the object that was requested.
    #[error("the answer to {0} is not the object that was requested")]
    Malformed(String),
    /// There is no configuration.
    #[error("there is no MutatingWebhookConfiguration {0}, so no pod gets a sidecar; install the chart again")]
    NoConfiguration(String),
    /// The objects cannot be brought to agree.
    #[error("{0}: {1}")]
    NotDecided(String, NotDecided),
    /// The cryptographic library failed.
    #[error(transparent)]
    Library(#[from] AuthorityError),
}

/// The API server answered a request with an error.
#[derive(Debug)]
pub(super) struct Refusal {
    request: Request,
    names: Names,
    status: StatusCode,
    message: String,
    is_namespace_ending: bool,
}

impl Names {
    /// The name of the Secret.
    pub(super) fn secret(&self) -> String {
        format!("{}-certificate", self.service.name())
    }

    pub(super) fn secret_in_words(&self) -> String {
        format!("the Secret {}/{}", self.service.namespace(), self.secret())
    }

    pub(super) fn configuration_in_words(&self) -> String {
        format!("the MutatingWebhookConfiguration {}", self.configuration)
    }
}

impl Refusal {
    /// Reads the `Status` of an answer. Proxies answer with other bodies.
    pub(super) fn of(request: Request, names: &Names, status: StatusCode, body: &[u8]) -> Self {
        let document: Document = serde_json::from_slice(body).unwrap_or_default();
        let causes = document.details.unwrap_or_default().causes.unwrap_or_default();
        let is_namespace_ending = causes.iter().any(|cause| cause.reason.as_deref() == Some("NamespaceTerminating"));
        let message = quoted(&document.message.unwrap_or_default());
        Self { request, names: names.clone(), status, message, is_namespace_ending }
    }

    fn act(&self) -> String {
        let (verb, object) = match self.request {
            Request::ReadSecret => ("read", self.names.secret_in_words()),
            Request::WriteSecret => ("write", self.names.secret_in_words()),
            Request::ReadConfiguration => ("read", self.names.configuration_in_words()),
            Request::WriteConfiguration => ("write the caBundle of", self.names.configuration_in_words()),
        };
        format!("{verb} {object}")
    }

    fn remedy(&self) -> Option<String> {
        match self.status {
            StatusCode::UNAUTHORIZED => Some("the API server does not accept the pod's token; restart the pod".to_owned()),
            StatusCode::FORBIDDEN if self.is_namespace_ending => Some("the namespace is being deleted".to_owned()),
            StatusCode::FORBIDDEN if self.is_of_rbac() => Some(self.rule()),
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY if self.request == Request::WriteSecret => {
                Some(format!("delete {}; the webhook then creates it again", self.names.secret_in_words()))
            }
            _ => None,
        }
    }

    /// Whether a rule is missing. Quotas and admission refuse with the same status.
    fn is_of_rbac(&self) -> bool {
        self.message.is_empty()
            || ["get", "patch", "create"].iter().any(|verb| self.message.contains(&format!("cannot {verb} resource")))
    }

    /// An apply that creates is authorised with the object's name, so `create` can have `resourceNames` (kubernetes/kubernetes
    /// `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/patch.go`, `createAuthorizerAttributes`, v1.34).
    fn rule(&self) -> String {
        let Names { service, configuration } = &self.names;
        let to_the_account = "bound to the webhook's ServiceAccount";
        match self.request {
            Request::ReadSecret | Request::WriteSecret => format!(
                "allow get, patch and create of secrets with resourceNames [{}], by a Role in the namespace {} that is {to_the_account}",
                self.names.secret(),
                service.namespace()
            ),
            Request::ReadConfiguration | Request::WriteConfiguration => format!(
                "allow get and patch of mutatingwebhookconfigurations.admissionregistration.k8s.io with resourceNames [{configuration}], \
                 by a ClusterRole that is {to_the_account}"
            ),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot {}: the API server answered {}", self.act(), self.status.as_u16())?;
        if !self.message.is_empty() {
            write!(formatter, " ({})", self.message)?;
        }
        match self.remedy() {
            Some(remedy) => write!(formatter, "; {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}

/// A message without anything that could be a part of a key, on one line. API servers quote values that they refuse.
fn quoted(message: &str) -> String {
    if message.contains("-----BEGIN") {
        return "it quotes a key or a certificate".to_owned();
    }
    let mut kept = String::new();
    let mut run = String::new();
    for character in message.chars().chain(['\n']) {
        if character.is_ascii_alphanumeric() || matches!(character, '+' | '/' | '=') {
            run.push(character);
            continue;
        }
        kept.push_str(if run.len() < BASE64 { &run } else { "…" });
        run.clear();
        kept.push(if character.is_control() { ' ' } else { character });
    }
    let kept = kept.trim();
    match kept.char_indices().nth(LONGEST_QUOTED) {
        Some((end, _)) => format!("{}…", kept.get(..end).unwrap_or_default()),
        None => kept.to_owned(),
    }
}

#[derive(Default, Deserialize)]
struct Document {
    message: Option<String>,
    details: Option<Details>,
}

#[derive(Default, Deserialize)]
struct Details {
    causes: Option<Vec<Cause>>,
}

#[derive(Deserialize)]
struct Cause {
    reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(request: Request, status: u16, body: &serde_json::Value) -> String {
        let names = Names { service: "watchtap.system".parse().unwrap(), configuration: "watchtap-hook".to_owned() };
        Refusal::of(request, &names, StatusCode::from_u16(status).unwrap(), body.to_string().as_bytes()).to_string()
    }

    #[test]
    fn missing_rule_is_named() {
        let message = r#"secrets "watchtap-certificate" is forbidden: User "u" cannot create resource "secrets" in API group """#;
        for request in [Request::ReadSecret, Request::WriteSecret] {
            let text = refusal(request, 403, &json!({"message": message}));
            assert!(text.contains("the Secret system/watchtap-certificate: the API server answered 403 (secrets"), "{text}");
            let rule = "allow get, patch and create of secrets with resourceNames [watchtap-certificate], by a Role in the namespace system";
            assert!(text.contains(rule), "{text}");
        }
        for request in [Request::ReadConfiguration, Request::WriteConfiguration] {
            let text = refusal(request, 403, &json!({}));
            assert!(text.contains("resourceNames [watchtap-hook], by a ClusterRole that is bound"), "{text}");
        }
    }

    #[test]
    fn other_refusals_name_no_rule() {
        for (body, words) in [
            (json!({"message": "exceeded quota: few"}), "exceeded quota: few"),
            (
                json!({"message": "unable to create new content", "details": {"causes": [{"reason": "NamespaceTerminating"}]}}),
                "the namespace is being deleted",
            ),
        ] {
            let text = refusal(Request::WriteSecret, 403, &body);
            assert!(text.contains(words) && !text.contains("Role"), "{text}");
        }
        let text = refusal(Request::WriteSecret, 422, &json!({"message": "data: Forbidden: field is immutable"}));
        assert!(text.ends_with("; delete the Secret system/watchtap-certificate; the webhook then creates it again"), "{text}");
        let text = refusal(Request::ReadConfiguration, 503, &json!("no Status"));
        assert_eq!(text, "cannot read the MutatingWebhookConfiguration watchtap-hook: the API server answered 503");
        assert!(refusal(Request::ReadSecret, 401, &json!({})).contains("the pod's token"));
    }

    #[test]
    fn quoted_message_has_no_part_of_a_key_and_one_line() {
        let authority = super::super::authority::Authority::generate(std::time::SystemTime::now()).unwrap().to_pem();
        let base64 = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &authority);
        for secret in [authority.clone(), authority.replace('\n', "\\n"), base64] {
            let text = quoted(&format!("Invalid value: \"{secret}\" for you"));
            assert!(text.len() < 60, "{text}");
            assert!(authority.lines().all(|line| !text.contains(line)), "{text}");
        }
        assert_eq!(quoted("two\nlines\u{1b}[2J"), "two lines [2J");
        assert_eq!(quoted(&"word ".repeat(200)).chars().count(), LONGEST_QUOTED + 1);
    }
}
