//! The ServiceAccount and the pod that a token names. The signature is not checked, because the API server does that.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::backoff::chance;

/// Longest token that is parsed, in bytes.
const MAX_TOKEN_SIZE: usize = 16 * 1024;
/// The beginning of the name of each field manager of a Secret.
const MANAGER_PREFIX: &str = "watchtap-";
/// Longest name of a field manager (kubernetes/apimachinery `pkg/apis/meta/v1/validation`, `FieldManagerMaxLength`, v0.34).
const MAX_MANAGER_LENGTH: usize = 128;

/// A ServiceAccount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
}

/// The account and the pod of a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    /// `None` if the token is not one that the kubelet requests.
    pub(super) account: Option<Account>,
    pub(super) pod: Option<String>,
}

impl Identity {
    /// Reads the claims of a token (kubernetes/kubernetes `pkg/serviceaccount/claims.go`, v1.34).
    pub(super) fn of_token(token: &[u8]) -> Self {
        let Some(Claims { kubernetes: Some(claims) }) = claims(token) else { return Self::default() };
        let KubernetesClaims { namespace, serviceaccount, pod } = claims;
        let account = serviceaccount.map(|Reference { name, uid }| Account { namespace, name, uid });
        Self { account, pod: pod.map(|pod| pod.name) }
    }

    /// A field manager that no other replica has: server-side apply sees no conflict between appliers with the same name. The last
    /// part of a pod's name is random.
    pub(super) fn field_manager(&self) -> String {
        let Some(pod) = &self.pod else { return format!("{MANAGER_PREFIX}{:016x}", chance()) };
        let longest = MAX_MANAGER_LENGTH - MANAGER_PREFIX.len();
        let end = pod.char_indices().rev().map(|(at, _)| at).take_while(|at| pod.len() - at <= longest).last();
        let end = end.and_then(|at| pod.get(at..)).unwrap_or_default();
        format!("{MANAGER_PREFIX}{end}")
    }
}

fn claims(token: &[u8]) -> Option<Claims> {
    let token = token.trim_ascii();
    if token.len() > MAX_TOKEN_SIZE {
        return None;
    }
    let payload = token.split(|byte| *byte == b'.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
}

#[derive(Deserialize)]
struct Claims {
    #[serde(rename = "kubernetes.io")]
    kubernetes: Option<KubernetesClaims>,
}

#[derive(Deserialize)]
struct KubernetesClaims {
    #[serde(default)]
    namespace: String,
    serviceaccount: Option<Reference>,
    pod: Option<Reference>,
}

#[derive(Deserialize)]
struct Reference {
    name: String,
    uid: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(claims: &str) -> Vec<u8> {
        format!("e30.{}.c2lnbmF0dXJl\n", URL_SAFE_NO_PAD.encode(claims)).into_bytes()
    }

    fn pod(name: &str) -> Identity {
        Identity { pod: Some(name.to_owned()), ..Identity::default() }
    }

    #[test]
    fn token_of_a_pod_names_account_and_pod() {
        let identity = Identity::of_token(&token(
            r#"{"aud":["https://kubernetes.default.svc"],"kubernetes.io":{"namespace":"system","node":{"name":"n","uid":"1"},
               "pod":{"name":"watchtap-5c-x2x","uid":"2"},"serviceaccount":{"name":"watchtap","uid":"3"},"warnafter":7}}"#,
        ));
        let account = Account { namespace: "system".to_owned(), name: "watchtap".to_owned(), uid: "3".to_owned() };
        assert_eq!(identity, Identity { account: Some(account), pod: Some("watchtap-5c-x2x".to_owned()) });
        assert_eq!(identity.field_manager(), "watchtap-watchtap-5c-x2x");
    }

    #[test]
    fn other_tokens_name_no_account() {
        let long = token(&format!(r#"{{"kubernetes.io":{{"namespace":"{}"}}}}"#, "x".repeat(MAX_TOKEN_SIZE)));
        for token in [b"opaque".to_vec(), b"a.b.c".to_vec(), Vec::new(), token("{}"), token(r#"{"kubernetes.io":7}"#), long] {
            assert_eq!(Identity::of_token(&token), Identity::default());
        }
        let without_pod = Identity::of_token(&token(
            r#"{"kubernetes.io":{"namespace":"system","serviceaccount":{"name":"watchtap","uid":"3"}}}"#,
        ));
        assert!(without_pod.account.is_some() && without_pod.pod.is_none());
    }

    #[test]
    fn field_managers_of_replicas_differ_and_fit() {
        assert_ne!(Identity::default().field_manager(), Identity::default().field_manager());
        for length in [1, 60, 119, 120, 253] {
            let long = "n".repeat(length);
            let [one, other] = ["x2x", "y3y"].map(|end| pod(&format!("{long}-{end}")).field_manager());
            assert_ne!(one, other);
            assert!(one.len() <= MAX_MANAGER_LENGTH && one.starts_with(MANAGER_PREFIX) && one.ends_with("-x2x"), "{one}");
        }
    }
}
