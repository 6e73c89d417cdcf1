//! What must hold for how a request is understood: what is dropped of a query changes nothing, names and paths are bounded, a continue
//! token goes there and back, and what remains of a token is short and printable.
//!
//! The input is lines: method, request target, a path in front of the API server's own, the value of `Authorization`, a continue token.

use observer_core::http::{Identity, Target};
use observer_core::k8s::{ContinueRevision, ContinueToken, ListOptions, RequestInfo, query};

/// Longest path and query that are kept, and longest name that is read of them, as the code that enforces them documents it.
const MOST_PATH: usize = 4096;
const MOST_QUERY: usize = 32 * 1024;
const MOST_NAME: usize = 512;
const MOST_SUBJECT: usize = 256;

/// Reads each line as what it is, and as what others are.
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

/// The query of a target in origin form, as it was sent.
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
