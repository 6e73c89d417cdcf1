//! Invariants of request parsing. Parts of a query that are dropped do not change the result, and names and paths are bounded. A
//! continue token can be encoded and parsed again. The rest of a token is short and printable.
//!
//! The input has five lines: method, request target, a path prefix of the API server, the value of `Authorization`, a continue
//! token.

use observer_core::http::{Identity, Target};
use observer_core::k8s::{ContinueRevision, ContinueToken, ListOptions, RequestInfo, query};

/// Maximum length of path and query, and of the names read from them, as documented by the code that enforces them.
const MOST_PATH: usize = 4096;
const MOST_QUERY: usize = 32 * 1024;
const MOST_NAME: usize = 512;
const MOST_SUBJECT: usize = 256;

/// Parses each line as its own kind and as the other kinds.
pub fn check(input: &[u8]) {
    let mut lines = input.splitn(5, |byte| *byte == b'\n');
    let [method, target, prefix, authorization, token] = [0; 5].map(|_| lines.next().unwrap_or_default());
    check_target(&String::from_utf8_lossy(method), target, &String::from_utf8_lossy(prefix));
    check_identity(authorization);
    check_token(&String::from_utf8_lossy(token));
}

fn check_target(method: &str, target: &[u8], prefix: &str) {
    let parsed = Target::parse(target);
    assert!(parsed.path.len() <= MOST_PATH && parsed.query.len() <= MOST_QUERY, "{} {}", parsed.path.len(), parsed.query.len());
    assert_eq!(query::keep_known(&parsed.query), (parsed.query.clone(), 0), "something more is dropped");
    assert_eq!(Target::parse(format!("/?{}", parsed.query).as_bytes()).query, parsed.query, "a kept query is not kept");

    let options = ListOptions::parse(&parsed.query);
    if let Some(raw) = raw_query(target).filter(|raw| raw.len() <= MOST_QUERY) {
        assert_eq!(options, ListOptions::parse(&raw), "what was dropped had a meaning");
    }
    let info = RequestInfo::parse(method, &parsed.path, &options, prefix);
    let resource = info.resource.as_ref().map(|resource| [&resource.group, &resource.version, &resource.resource]);
    let names = resource.into_iter().flatten().chain([&info.subresource, &info.namespace, &info.name]);
    for name in names {
        assert!(name.chars().count() <= MOST_NAME && !name.contains(char::is_control), "{name:?}");
    }
    assert!(info.is_collection() <= info.resource.is_some(), "a collection of nothing: {info:?}");
    if info.resource.is_none() {
        assert!(info.non_resource_path.matches('/').count() <= 4, "{info:?}");
    }
}

/// The query of a target in origin form, not decoded.
fn raw_query(target: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(target);
    let origin = text.strip_prefix('/')?.split('#').next()?;
    Some(origin.split_once('?')?.1.to_owned())
}

fn check_identity(authorization: &[u8]) {
    match Identity::from_authorization(authorization) {
        Identity::ServiceAccount { namespace, name } => {
            assert!(namespace.len() + name.len() <= MOST_SUBJECT && !(namespace + &name).contains(char::is_control));
        }
        Identity::Subject { subject } => {
            assert!(!subject.is_empty() && subject.len() <= MOST_SUBJECT && !subject.contains(char::is_control), "{subject:?}");
        }
        Identity::Bearer | Identity::OtherScheme => {}
    }
}

fn check_token(token: &str) {
    let Ok(decoded) = ContinueToken::decode(token) else { return };
    assert!(decoded.revision != ContinueRevision::At(0) && !decoded.start_key.split('/').any(|part| part == ".."), "{decoded:?}");
    let latest = decoded.at_latest().expect("a token that was decoded can be encoded");
    let again = ContinueToken { revision: ContinueRevision::Latest, start_key: decoded.start_key };
    assert_eq!(ContinueToken::decode(&latest), Ok(again), "the token goes on elsewhere");
}
