//! The `continue` token of a chunked list.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

/// Longest token that is decoded, in bytes. Object keys are at most some hundred bytes long.
const MAX_TOKEN: usize = 16 * 1024;

/// The revision at which a continued list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContinueRevision {
    /// The revision of the first page.
    At(u64),
    /// The current one: a 410 carries such a token as a replacement ("inconsistent continue").
    Latest,
}

/// A decoded token (kubernetes/apiserver pkg/storage/continue.go, v0.29 and later; pkg/storage/etcd3/store.go before).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContinueToken {
    /// The revision at which to read.
    pub revision: ContinueRevision,
    /// The key to start from, relative to the resource's prefix and without a leading slash. The trailing NUL, which excludes the
    /// key itself, is removed.
    pub start_key: String,
}

/// A token that kube-apiserver answers with 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidContinueToken {
    /// Longer than 16 KiB.
    #[error("longer than 16 KiB")]
    TooLong,
    /// Not unpadded URL-safe base64.
    #[error("not unpadded URL-safe base64")]
    NotBase64,
    /// Not the JSON object that the API server writes.
    #[error("not a JSON object with v, rv and start")]
    NotJson,
    /// An encoding version other than `meta.k8s.io/v1`.
    #[error("not of version meta.k8s.io/v1")]
    UnknownVersion,
    /// Revision 0.
    #[error("revision 0")]
    ZeroRevision,
    /// No start key, or one that leaves its prefix.
    #[error("no start key, or one outside its prefix")]
    BadStartKey,
}

#[derive(Deserialize, Serialize)]
struct Encoded {
    #[serde(default)]
    v: String,
    #[serde(default)]
    rv: i64,
    #[serde(default)]
    start: String,
}

/// The only existing encoding version.
const VERSION: &str = "meta.k8s.io/v1";

impl ContinueToken {
    /// Longest token that is decoded, in bytes.
    pub const MAX_TOKEN: usize = MAX_TOKEN;

    /// Decodes the value of a `continue` parameter or of `metadata.continue`.
    pub fn decode(token: &str) -> Result<Self, InvalidContinueToken> {
        if token.len() > MAX_TOKEN {
            return Err(InvalidContinueToken::TooLong);
        }
        let json = URL_SAFE_NO_PAD.decode(token).or(Err(InvalidContinueToken::NotBase64))?;
        if json.first() != Some(&b'{') {
            return Err(InvalidContinueToken::NotJson);
        }
        let encoded: Encoded = serde_json::from_slice(&json).or(Err(InvalidContinueToken::NotJson))?;
        if encoded.v != VERSION {
            return Err(InvalidContinueToken::UnknownVersion);
        }
        let revision = match u64::try_from(encoded.rv) {
            Ok(0) => return Err(InvalidContinueToken::ZeroRevision),
            Ok(revision) => ContinueRevision::At(revision),
            Err(_negative) => ContinueRevision::Latest,
        };
        let key = encoded.start.strip_prefix('/').unwrap_or(&encoded.start);
        if key.is_empty() || key.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(InvalidContinueToken::BadStartKey);
        }
        Ok(Self { revision, start_key: key.trim_end_matches('\0').to_owned() })
    }

    /// The token that continues after the same key, but at the current revision, as a server offers it with a 410
    /// (kubernetes/apiserver pkg/storage/etcd3/errors.go, v0.15 and later).
    pub fn at_latest(&self) -> Option<String> {
        let encoded = Encoded { v: VERSION.to_owned(), rv: -1, start: format!("{}\0", self.start_key) };
        Some(URL_SAFE_NO_PAD.encode(serde_json::to_vec(&encoded).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(json: &str) -> String {
        URL_SAFE_NO_PAD.encode(json)
    }

    #[test]
    fn first_page_token_holds_revision_and_start_key() {
        let decoded = ContinueToken::decode(&token(r#"{"v":"meta.k8s.io/v1","rv":812345,"start":"default/web-0\u0000"}"#));
        let expected = ContinueToken { revision: ContinueRevision::At(812_345), start_key: "default/web-0".to_owned() };
        assert_eq!(decoded, Ok(expected));
    }

    #[test]
    fn replacement_token_of_a_410_reads_the_latest_revision() {
        let decoded = ContinueToken::decode(&token(r#"{"v":"meta.k8s.io/v1","rv":-1,"start":"default/web-0\u0000"}"#));
        assert_eq!(decoded.map(|token| token.revision), Ok(ContinueRevision::Latest));
    }

    #[test]
    fn token_at_the_latest_revision_continues_after_the_same_key() {
        let page = ContinueToken { revision: ContinueRevision::At(812_345), start_key: "default/web-0".to_owned() };
        let latest = page.at_latest().map(|token| ContinueToken::decode(&token));
        assert_eq!(latest, Some(Ok(ContinueToken { revision: ContinueRevision::Latest, ..page })));
    }

    #[test]
    fn tokens_that_the_api_server_refuses_are_refused() {
        let cases = [
            ("a token with padding==".to_owned(), InvalidContinueToken::NotBase64),
            (token("[]"), InvalidContinueToken::NotJson),
            (token(r#"{"v":"meta.k8s.io/v2","rv":1,"start":"a"}"#), InvalidContinueToken::UnknownVersion),
            (token(r#"{"v":"meta.k8s.io/v1","rv":0,"start":"a"}"#), InvalidContinueToken::ZeroRevision),
            (token(r#"{"v":"meta.k8s.io/v1","rv":1,"start":""}"#), InvalidContinueToken::BadStartKey),
            (token(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"../other/a"}"#), InvalidContinueToken::BadStartKey),
            ("A".repeat(20_000), InvalidContinueToken::TooLong),
        ];
        for (token, expected) in cases {
            assert_eq!(ContinueToken::decode(&token), Err(expected), "{token:.40}");
        }
    }
}
