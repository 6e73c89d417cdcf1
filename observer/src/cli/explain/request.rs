//! A request that a user asks about, as method and path, and the flags beside it.

use anyhow::{Result, bail};
use observer_core::http::Target;
use observer_core::k8s::{ListOptions, RequestInfo, query};

use super::verbs::Action;
use super::wrong_input::{quoted, wrong_input};

/// The flags of kubectl that belong to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) namespace: Option<String>,
    pub(super) all_namespaces: bool,
    /// The path after `--raw`.
    pub(super) raw: Option<String>,
}

impl Flags {
    /// Refuses a namespace beside an input that has its own.
    pub(super) fn refuse_namespace(&self) -> Result<()> {
        if self.namespace.is_some() || self.all_namespaces {
            bail!("-n and -A belong to a verb and a resource, as in `LIST pods -n default`; a path has its namespace in it");
        }
        Ok(())
    }
}

/// A request.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Asked {
    method: &'static str,
    path: String,
    /// The query without `?`, with all parameters as given. It may hold a token.
    pub(super) query: String,
    /// The query without unknown parameters.
    shown_query: String,
}

impl Asked {
    /// The request of `action` for `url`: a path, or a URL whose scheme and host have no effect. Neither they nor unknown
    /// parameters are shown later: a request from a log may hold a token in its query, or a password in its host.
    pub(super) fn of(action: Action, url: &str) -> Result<Self> {
        let url = without_protocol(url.trim());
        if !is_url(url) {
            let what = format!("{} is no path: a path begins with /api/ or /apis/", quoted(url));
            return Err(wrong_input(&what, with_slash(url).as_slice()));
        }
        let mut target = Target::parse(url.as_bytes());
        let before_fragment = url.split('#').next().unwrap_or_default();
        let mut raw_query = before_fragment.split_once('?').map_or("", |(_, query)| query).to_owned();
        if action.watches && query::first(&raw_query, "watch").is_none() {
            for query in [&mut raw_query, &mut target.query] {
                query.push_str(if query.is_empty() { "watch=true" } else { "&watch=true" });
            }
        }
        Ok(Self { method: action.method, path: target.path, query: raw_query, shown_query: target.query })
    }

    pub(super) fn info(&self) -> RequestInfo {
        RequestInfo::parse(self.method, &self.path, &ListOptions::parse(&self.query), "")
    }

    /// The request in a form that can be shown.
    pub(super) fn shown(&self) -> String {
        let question_mark = if self.shown_query.is_empty() { "" } else { "?" };
        format!("{} {}{question_mark}{}", self.method, self.path, self.shown_query)
    }
}

/// Whether a word begins a path or a URL.
pub(super) fn is_url(word: &str) -> bool {
    let is_scheme = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    word.starts_with('/') || word.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme))
}

/// The path that a word without its first slash stands for.
pub(super) fn with_slash(word: &str) -> Option<String> {
    let path = word.split(['?', '#']).next().unwrap_or_default();
    ["api/", "apis/"].iter().any(|root| path.starts_with(root)).then(|| format!("/{path}"))
}

/// Without the protocol at the end of a request line.
fn without_protocol(url: &str) -> &str {
    url.rsplit_once(char::is_whitespace).filter(|(_, last)| last.starts_with("HTTP/")).map_or(url, |(url, _)| url.trim_end())
}
