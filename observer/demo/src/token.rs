//! Continue tokens in the API server's format.
//!
//! kubernetes/apiserver pkg/storage/continue.go v0.34.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::json;

use super::options::Token;

/// Maximum length of a decoded token, in bytes.
const MAX_TOKEN: usize = 16 * 1024;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Encoded {
    v: String,
    rv: i64,
    start: String,
}

/// Decodes a token. The error is the last part of the server's message.
pub(super) fn decode(token: &str) -> Result<Token, String> {
    let invalid = |what: &str| format!("continue key is not valid: {what}");
    if token.len() > MAX_TOKEN {
        return Err(invalid("too long"));
    }
    let json = URL_SAFE_NO_PAD.decode(token).map_err(|error| invalid(&error.to_string()))?;
    let Encoded { v, rv, start } = serde_json::from_slice(&json).map_err(|error| invalid(&error.to_string()))?;
    if v != "meta.k8s.io/v1" {
        return Err(invalid("server does not recognize this encoded version ") + &v);
    }
    if rv == 0 {
        return Err(invalid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)"));
    }
    let key = start.strip_prefix('/').unwrap_or(&start);
    if key.is_empty() {
        return Err(invalid("encoded start key empty (version meta.k8s.io/v1)"));
    }
    if key.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(invalid(&start));
    }
    Ok(Token { revision: u64::try_from(rv).ok(), start: key.to_owned() })
}

/// Encodes a token: the revision, and the first key of the next page, relative to the prefix of the list. Without a revision, the
/// next page is read from the current state.
pub(super) fn encode(revision: Option<u64>, start: &str) -> String {
    let revision = revision.and_then(|revision| i64::try_from(revision).ok()).unwrap_or(-1);
    // The order of the fields and the escape sequence for NUL are those of Go.
    let start = json!(start);
    URL_SAFE_NO_PAD.encode(format!(r#"{{"v":"meta.k8s.io/v1","rv":{revision},"start":{start}}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_has_the_api_servers_format() {
        let token = encode(Some(812_345), "default/web-0\0");
        assert_eq!(URL_SAFE_NO_PAD.decode(&token).unwrap(), br#"{"v":"meta.k8s.io/v1","rv":812345,"start":"default/web-0\u0000"}"#);
    }

    #[test]
    fn continue_tokens_survive_a_round_trip() {
        let read = decode(&encode(Some(7), "default/web-0\0")).unwrap();
        assert_eq!(read, Token { revision: Some(7), start: "default/web-0\0".to_owned() });
        assert_eq!(decode(&encode(None, "a")).unwrap().revision, None);
    }

    #[test]
    fn invalid_continue_tokens_are_refused() {
        let token = |json: &str| URL_SAFE_NO_PAD.encode(json);
        for text in [
            "padding==".to_owned(),
            token("[]"),
            token(r#"{"v":"meta.k8s.io/v2","rv":1,"start":"a"}"#),
            token(r#"{"v":"meta.k8s.io/v1","rv":0,"start":"a"}"#),
            token(r#"{"v":"meta.k8s.io/v1","rv":1,"start":""}"#),
            token(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"../other/a"}"#),
            "A".repeat(20_000),
        ] {
            assert!(decode(&text).is_err(), "{text:.40}");
        }
    }
}
