//! Rules: no HTTP library is in the path of proxied bytes, and taps and views do not use each other.

use super::references::{Reference, references};
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

const TAPS: &str = "observer/src/tap";
const VIEWS: &str = "observer/src/view";
/// Modules outside of the taps that are in the path of proxied bytes.
const ROUTES: [&str; 2] = ["observer/src/api_server/route", "observer/src/api_server/tls"];

/// Crates that speak HTTP or have its types; a tap takes its HTTP types from `observer_core`.
const HTTP_CRATES: &[&str] = &[
    "axum",
    "h2",
    "http",
    "http_body",
    "http_body_util",
    "httparse",
    "hyper",
    "hyper_util",
    "reqwest",
    "tower",
    "tower_http",
    "ureq",
];

fn is_below(file: &SourceFile, folder: &str) -> bool {
    file.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
}

fn violations(file: &SourceFile) -> Vec<Violation> {
    let uses = references(file);
    let stranger = if is_below(file, VIEWS) { "tap" } else { "view" };
    let is_in_the_path = is_below(file, TAPS) || ROUTES.iter().any(|route| is_below(file, route));
    if !is_in_the_path && !is_below(file, VIEWS) {
        return Vec::new();
    }
    let http = uses.iter().filter(|reference| is_in_the_path && reaches_http_crate(reference, &uses));
    let http = http.map(|reference| Violation::at(file, reference.line, format!("the proxy path uses `{}`", reference.path())));
    let strangers =
        uses.iter().filter(|reference| matches!(reference.segments.as_slice(), ["crate", module, ..] if *module == stranger));
    let strangers = strangers.map(|reference| Violation::at(file, reference.line, format!("uses `{}`", reference.path())));
    http.chain(strangers).collect()
}

/// Whether a path leads to an HTTP crate. After `use observer_core::http`, `http::StreamId` is a type of the core.
fn reaches_http_crate(reference: &Reference<'_>, uses: &[Reference<'_>]) -> bool {
    let Some(first) = reference.segments.first() else { return false };
    let is_imported = uses.iter().any(|other| other.segments.len() > 1 && other.imported_as == Some(first));
    HTTP_CRATES.contains(first) && !is_imported
}

#[test]
fn taps_use_no_http_crates_and_no_views() {
    let tree = Tree::read();
    let files = tree.rust_files_below("observer/src/");
    let has_modules = files.iter().any(|file| !file.module().is_empty());
    assert!(
        !has_modules || files.iter().any(|file| is_below(file, TAPS)),
        "{TAPS} is missing: did the proxy move? Then this rule must follow it"
    );
    let violations: Vec<_> = files.into_iter().flat_map(violations).collect();
    assert_none(
        &violations,
        "the proxy copies bytes and decodes a copy passively through `observer_core` (design: it can never invent a response); taps and \
         views meet in `intake` and the Observer only",
    );
}

#[test]
fn http_crates_in_a_tap_are_caught() {
    let text = "use hyper::body::Body;\nuse observer_core::http::FrameWalker;\nfn f() { h2::client::handshake(io); }\nuse http;";
    let file = SourceFile::new("observer/src/tap/proxy/copy.rs", text);
    let expected = [
        "1: the proxy path uses `hyper::body::Body`",
        "3: the proxy path uses `h2::client::handshake`",
        "4: the proxy path uses `http`",
    ];
    assert_found(&violations(&file), &expected);
}

#[test]
fn core_http_module_is_not_an_http_crate() {
    let text = "use observer_core::http;\nfn f(gap: http::Gap) {}";
    assert_found(&violations(&SourceFile::new("observer/src/tap/mod.rs", text)), &[]);
}

#[test]
fn taps_and_views_that_use_each_other_are_caught() {
    let tap = SourceFile::new("observer/src/tap/proxy/mod.rs", "use crate::view::Report;\nuse super::super::view;");
    assert_found(&violations(&tap), &["1: uses `crate::view::Report`", "2: uses `crate::view`"]);
    let view = SourceFile::new("observer/src/view/report.rs", "use super::super::tap::Losses;");
    assert_found(&violations(&view), &["1: uses `crate::tap::Losses`"]);
    let command = SourceFile::new("observer/src/cli/exec.rs", "use crate::{tap::Proxy, view::Report};");
    assert_found(&violations(&command), &[]);
}
