//! The canaries: a distinct one for each place, so that a hit identifies the leak.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use observer_tests::canary::{Canary, Search};

/// Every place where a secret enters; [`secret`] accepts no others.
pub(super) const PLACES: &[&str] = &[
    "authorization bearer",
    "authorization jwt claim",
    "authorization jwt signature",
    "authorization continued on a line of its own",
    "basic user",
    "basic password",
    "cookie",
    "set-cookie",
    "header off the list",
    "traceparent",
    "header without a colon",
    "trailer",
    "chunk extension",
    "chunk size",
    "query token",
    "query access_token",
    "query command of exec",
    "websocket subprotocol",
    "request body create",
    "request body patch",
    "request body token review",
    "response token request",
    "refusal of a write",
    "cause of a refusal",
    "secret data json",
    "secret key json",
    "secret data protobuf",
    "secret data cbor",
    "secret data gzip",
    "secret data table",
    "config map data",
    "annotation",
    "watch event",
    "watch event websocket",
    "exec stdin websocket",
    "exec stdout websocket",
    "exec stream spdy",
    "go away debug data",
    "ping payload",
    "plain text body",
    "log stream",
    "bad request line",
    "bad status line",
    "bad frames",
    "bad hpack",
    "bad json",
    "bad protobuf",
    "no http at all",
    "audit log",
    "etcd log",
    "metrics comment",
    "kubeconfig token",
    "kubeconfig token of another type",
    "kubeconfig plugin argument",
    "kubeconfig plugin environment",
    "kubeconfig proxy password",
    "kubeconfig server password",
    "environment proxy password",
    "token file",
    "plugin token",
    "proxy answer",
    "otlp header",
    "otlp url password",
    "flag token",
    "flag password",
    "argument bearer",
    "argument url password",
    "explained query",
    "explained url password",
];

/// The secret for `place`.
#[track_caller]
pub(super) fn secret(place: &str) -> String {
    assert!(PLACES.contains(&place), "{place:?} is not sought: add it to the places");
    format!("c4n4ry-{}-0x5ecre7", place.replace([' ', '_'], "-"))
}

/// The secret as base64, as in the data of a Secret.
#[track_caller]
pub(super) fn secret_base64(place: &str) -> String {
    BASE64_STANDARD.encode(secret(place))
}

/// A ServiceAccount token with canaries in everything but its name.
pub(super) fn jwt() -> String {
    let claims = format!(r#"{{"sub":"system:serviceaccount:default:robot","jti":"{}"}}"#, secret("authorization jwt claim"));
    let parts = [r#"{"alg":"RS256"}"#, &claims, &secret("authorization jwt signature")];
    parts.map(|part| BASE64_URL_SAFE_NO_PAD.encode(part)).join(".")
}

/// Name and password for HTTP basic authentication.
pub(super) fn basic() -> String {
    BASE64_STANDARD.encode(format!("{}:{}", secret("basic user"), secret("basic password")))
}

/// A search for all of them and for the additional canaries of this run.
pub(super) fn search(more: Vec<Canary>) -> Search {
    let all = PLACES.iter().map(|place| Canary::new(place, secret(place))).chain(more);
    Search::new(&all.collect::<Vec<_>>()).unwrap()
}
