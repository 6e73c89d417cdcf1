//! The identity that a client claims, without its credential.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::target::cut;

/// Longest bearer token that is parsed, in bytes; a longer one is `Bearer` without a subject.
const MAX_AUTHORIZATION: usize = 16 * 1024;
/// Longest subject that is kept, in bytes; a token with a longer one is `Bearer`.
const MAX_SUBJECT: usize = 256;

/// The sender's identity, as its `Authorization` field claims it. The credential itself is dropped at once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Identity {
    /// A ServiceAccount token (`sub` is `system:serviceaccount:NAMESPACE:NAME`).
    ServiceAccount {
        /// Namespace of the ServiceAccount.
        namespace: String,
        /// Name of the ServiceAccount.
        name: String,
    },
    /// Another JWT, with its `sub` claim; its signature is not verified.
    Subject {
        /// The `sub` claim, at most 256 bytes.
        subject: String,
    },
    /// A bearer token that is not a JWT, or one without a readable subject.
    Bearer,
    /// Any other scheme (Basic, Negotiate, …).
    OtherScheme,
}

impl Identity {
    /// Longest subject that is kept, in bytes; a token with a longer one is `Bearer`.
    pub const MAX_SUBJECT: usize = MAX_SUBJECT;

    /// The user name in Kubernetes; `None` if the credential does not show it.
    pub fn user_name(&self) -> Option<String> {
        match self {
            Self::ServiceAccount { namespace, name } => Some(format!("system:serviceaccount:{namespace}:{name}")),
            Self::Subject { subject } => Some(subject.clone()),
            Self::Bearer | Self::OtherScheme => None,
        }
    }

    /// Reads an `Authorization` value.
    pub fn from_authorization(value: &[u8]) -> Self {
        let Some(token) = bearer_token(value) else { return Self::OtherScheme };
        let Some(subject) = jwt_subject(token) else { return Self::Bearer };
        Self::of_user(&subject)
    }

    /// The identity of a user with this name, each part cut at [`Self::MAX_SUBJECT`].
    pub fn of_user(name: &str) -> Self {
        let cut = |name: &str| cut(name, MAX_SUBJECT).to_owned();
        match name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':')) {
            Some((namespace, name)) => Self::ServiceAccount { namespace: cut(namespace), name: cut(name) },
            None => Self::Subject { subject: cut(name) },
        }
    }
}

fn bearer_token(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token.trim_ascii())
}

fn jwt_subject(token: &[u8]) -> Option<String> {
    if token.len() > MAX_AUTHORIZATION {
        return None;
    }
    let mut parts = token.split(|byte| *byte == b'.');
    let (_header, claims, _signature) = (parts.next()?, parts.next()?, parts.next()?);
    let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
    let claims: Claims = serde_json::from_slice(&claims).ok()?;
    let printable = claims.sub.len() <= MAX_SUBJECT && claims.sub.chars().all(|c| !c.is_control());
    (printable && !claims.sub.is_empty()).then_some(claims.sub)
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::{Identity, MAX_AUTHORIZATION, MAX_SUBJECT, URL_SAFE_NO_PAD};

    #[test]
    fn service_account_tokens_name_namespace_and_name() {
        let token = jwt(r#"{"iss":"https://kubernetes.default.svc","sub":"system:serviceaccount:kube-system:controller"}"#);
        for scheme in ["Bearer", "bearer", "BEARER"] {
            let expected = Identity::ServiceAccount { namespace: "kube-system".to_owned(), name: "controller".to_owned() };
            assert_identity(&format!("{scheme} {token}"), &expected);
        }
    }

    #[test]
    fn other_tokens_name_their_subject_or_nothing() {
        let subject = |subject: &str| Identity::Subject { subject: subject.to_owned() };
        assert_identity(&bearer(r#"{"sub":"jane@example.com"}"#), &subject("jane@example.com"));
        assert_identity(&bearer(r#"{"sub":"system:serviceaccount:half"}"#), &subject("system:serviceaccount:half"));
        for claims in ["{}", "[]", "no json", r#"{"sub":""}"#, r#"{"sub":7}"#, r#"{"sub":"a\u001b[2J"}"#] {
            assert_identity(&bearer(claims), &Identity::Bearer);
        }
    }

    #[test]
    fn opaque_tokens_and_other_schemes_have_no_subject() {
        for token in ["Bearer abcdef.0123456789abcdef", "Bearer ", "Bearer a.b.c", "Bearer a.!!.c", "Bearer ...."] {
            assert_identity(token, &Identity::Bearer);
        }
        for value in ["Basic dTpw", "Negotiate a", "Bearer", "", "Bearertoken"] {
            assert_identity(value, &Identity::OtherScheme);
        }
    }

    #[test]
    fn overlong_subject_or_authorization_is_not_parsed() {
        let subject = |length: usize| bearer(&format!(r#"{{"sub":"{}"}}"#, "s".repeat(length)));
        assert_identity(&subject(MAX_SUBJECT), &Identity::Subject { subject: "s".repeat(MAX_SUBJECT) });
        assert_identity(&subject(MAX_SUBJECT + 1), &Identity::Bearer);
        let padded = format!(r#"{{"sub":"a","x":"{}"}}"#, "x".repeat(MAX_AUTHORIZATION));
        assert_identity(&bearer(&padded), &Identity::Bearer);
    }

    #[test]
    fn identity_keeps_no_part_of_the_credential() {
        for value in [
            bearer(r#"{"sub":"jane","jti":"c4n4ry"}"#),
            "Bearer c4n4ry".to_owned(),
            "Basic c4n4ry".to_owned(),
            "Bearer c4n4ry.c4n4ry.c4n4ry".to_owned(),
            "c4n4ry".to_owned(),
        ] {
            let identity = format!("{:?}", Identity::from_authorization(value.as_bytes()));
            let token_part = value.split('.').find(|part| part.len() > 3 && identity.contains(part));
            assert!(!identity.contains("c4n4ry") && token_part.is_none(), "{identity}");
        }
    }

    #[track_caller]
    fn assert_identity(value: &str, expected: &Identity) {
        assert_eq!(&Identity::from_authorization(value.as_bytes()), expected, "{value:.80}");
    }

    fn bearer(claims: &str) -> String {
        format!("Bearer {}", jwt(claims))
    }

    fn jwt(claims: &str) -> String {
        format!("{}.{}.c2lnbmF0dXJl", URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256"}"#), URL_SAFE_NO_PAD.encode(claims))
    }
}
