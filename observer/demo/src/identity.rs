//! The tokens of the demo's clients. Each has its own `ServiceAccount`, and a token is valid only with this server's secret.
//!
//! A token has the form of a JWT, so its claims name its owner, as in a real cluster. It is not signed: its last part is the
//! secret.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

/// The namespace of the demo's clients.
const NAMESPACE: &str = "default";

/// The token of a client that calls itself `name/version`. It is for the ServiceAccount with that name.
pub(super) fn service_account_token(secret: &str, user_agent: &str) -> String {
    let name = user_agent.split('/').next().unwrap_or_default();
    let subject = format!("system:serviceaccount:{NAMESPACE}:{name}");
    let claims = json!({"iss": "https://kubernetes.default.svc", "sub": subject});
    let [header, claims] = [json!({"alg": "none", "typ": "JWT"}), claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    format!("{header}.{claims}.{secret}")
}

/// Whether a token is the secret, or names an account and ends with the secret.
pub(super) fn is_valid(token: &str, secret: &str) -> bool {
    match token.split('.').collect::<Vec<&str>>()[..] {
        [all] | [_, _, all] => all == secret,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_names_its_service_account_and_carries_its_secret() {
        let token = service_account_token("5ec7e7", "old-ingress/v0.26.1");
        let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
        let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
        assert_eq!(claims["sub"], "system:serviceaccount:default:old-ingress");
        assert!(is_valid(&token, "5ec7e7") && is_valid("5ec7e7", "5ec7e7"));
        for wrong in ["", "..", "a.b.c", "x.5ec7e7", &service_account_token("other", "a/1"), &format!("{token}.5ec7e7")] {
            assert!(!is_valid(wrong, "5ec7e7"), "{wrong}");
        }
    }
}
