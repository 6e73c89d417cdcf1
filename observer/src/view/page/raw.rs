//! A list or a watch as a command that repeats it.

use std::fmt::Write as _;

use observer_core::exchange::{Scope, Shape};
use observer_core::k8s::{Continue, ListOptions, ResourceVersion, ResourceVersionMatch, Verb};
use observer_core::observer::{RequestRecord, Snapshot};
use observer_core::reflector::{Happened, ReflectorRow};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::request_row::RequestRow;

/// Encodes everything except the unreserved characters of RFC 3986, so that the result has no character with a special meaning in a
/// shell.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A selector of this length or more may have been cut when it was read.
const CUT_SELECTOR: usize = 1024;

/// The latest request of a row as a command, or the reason why there is none.
pub(super) fn of_requests(row: RequestRow<'_>, snapshot: &Snapshot) -> Result<String, String> {
    of_shape(row.verb(), row.shape(), snapshot)
}

/// The latest request of a shape as a command, or the reason why there is none.
pub(in crate::view) fn of_shape(verb: Option<Verb>, shape: &Shape, snapshot: &Snapshot) -> Result<String, String> {
    let verb = verb.filter(|verb| matches!(verb, Verb::List | Verb::Watch)).ok_or("only lists and watches can be repeated")?;
    let same = |record: &&RequestRecord| record.verb == Some(verb) && record.shape == *shape;
    let record = snapshot.requests.iter().rev().find(same).ok_or(
        "none of these requests is among the latest, which are kept \
            individually",
    )?;
    command(record)
}

/// The latest list of a reflector, otherwise its latest watch, as a command, or the reason why there is none.
pub(in crate::view) fn of_reflector(row: &ReflectorRow, snapshot: &Snapshot) -> Result<String, String> {
    command(latest(row, snapshot).ok_or("none of its requests is among the latest, which are kept individually")?)
}

/// The latest list of a reflector, otherwise its latest watch; `None` if neither is kept individually.
pub(in crate::view) fn latest<'s>(row: &ReflectorRow, snapshot: &'s Snapshot) -> Option<&'s RequestRecord> {
    let asked = |list: bool| row.timeline.iter().rev().filter_map(move |moment| exchange(&moment.what, list));
    let record = |exchange| snapshot.requests.iter().find(|record| record.id == exchange);
    asked(true).chain(asked(false)).find_map(record)
}

/// The exchange of a moment that requests a list, or a watch if `list` is false.
fn exchange(what: &Happened, list: bool) -> Option<observer_core::observation::ExchangeId> {
    match what {
        Happened::ListAsked { exchange, is_page: false, .. } if list => Some(*exchange),
        Happened::WatchAsked { exchange, .. } if !list => Some(*exchange),
        Happened::ListAsked { .. }
        | Happened::ListCame { .. }
        | Happened::WatchAsked { .. }
        | Happened::WatchOpened
        | Happened::InitialEventsEnded { .. }
        | Happened::Delivered { .. }
        | Happened::Failed { .. }
        | Happened::ListBroke
        | Happened::ClosedByForce { .. }
        | Happened::CacheReset
        | Happened::WatchEnded { .. }
        | Happened::Stalled { .. }
        | Happened::ReadAgain { .. }
        | Happened::ServerRefused { .. }
        | Happened::NotObserved => None,
    }
}

fn command(record: &RequestRecord) -> Result<String, String> {
    let mut line = format!("kubectl get --raw '{}", path(&record.shape, &record.api_version)?);
    for (index, (name, value)) in parameters(record.verb, &record.list_options)?.into_iter().enumerate() {
        let before = if index == 0 { '?' } else { '&' };
        let _infallible = write!(line, "{before}{name}={}", utf8_percent_encode(&value, ENCODED));
    }
    line.push('\'');
    Ok(line)
}

/// The path of a collection. The core group has no name; in a shape, other groups follow the name of the resource.
fn path(shape: &Shape, api_version: &str) -> Result<String, String> {
    let Some(scope) = &shape.scope else { return Err("the request has no resource".to_owned()) };
    if shape.resource.contains('/') {
        return Err(format!("{} is not a collection", shape.resource));
    }
    let resource = shape.resource.split('.').next().unwrap_or_default();
    let namespace = match scope {
        Scope::Namespace(namespace) => format!("namespaces/{}/", utf8_percent_encode(namespace, ENCODED)),
        Scope::AllNamespaces | Scope::Cluster | Scope::All => String::new(),
    };
    let root = if api_version.contains('/') { "apis" } else { "api" };
    let version: Vec<String> = api_version.split('/').map(|part| utf8_percent_encode(part, ENCODED).to_string()).collect();
    Ok(format!("/{root}/{}/{namespace}{}", version.join("/"), utf8_percent_encode(resource, ENCODED)))
}

fn parameters(verb: Option<Verb>, options: &ListOptions) -> Result<Vec<(&'static str, String)>, String> {
    if options.continue_token != Continue::Unset {
        return Err("it is a later page, and its continue token is used up".to_owned());
    }
    if options.undecodable {
        return Err("one of its parameters could not be read".to_owned());
    }
    let watch = (verb == Some(Verb::Watch)).then(|| ("watch", "true".to_owned()));
    let limit = (options.limit > 0).then(|| ("limit", options.limit.to_string()));
    let bookmarks = options.allow_watch_bookmarks.then(|| ("allowWatchBookmarks", "true".to_owned()));
    let initial = options.send_initial_events.map(|wanted| ("sendInitialEvents", wanted.to_string()));
    let timeout = options.timeout_seconds.map(|seconds| ("timeoutSeconds", seconds.to_string()));
    let first = watch.into_iter().chain(revision(options)?).chain(limit).chain(bookmarks).chain(initial).chain(timeout);
    Ok(first.chain(selectors(options)?).collect())
}

fn revision(options: &ListOptions) -> Result<Vec<(&'static str, String)>, String> {
    let version = match options.resource_version {
        ResourceVersion::Unset => None,
        ResourceVersion::Any => Some("0".to_owned()),
        ResourceVersion::At(revision) => Some(revision.to_string()),
        ResourceVersion::Invalid => return Err("its resourceVersion is not a number".to_owned()),
    };
    let matching = match options.resource_version_match {
        ResourceVersionMatch::Unset => None,
        ResourceVersionMatch::Exact => Some("Exact".to_owned()),
        ResourceVersionMatch::NotOlderThan => Some("NotOlderThan".to_owned()),
        ResourceVersionMatch::Invalid => return Err("its resourceVersionMatch is unknown".to_owned()),
    };
    let version = version.map(|version| ("resourceVersion", version));
    Ok(version.into_iter().chain(matching.map(|matching| ("resourceVersionMatch", matching))).collect())
}

fn selectors(options: &ListOptions) -> Result<Vec<(&'static str, String)>, String> {
    let given = [
        ("labelSelector", &options.label_selector),
        ("fieldSelector", &options.field_selector),
        ("shardSelector", &options.shard_selector),
    ];
    let given: Vec<_> = given.into_iter().filter(|(_, selector)| !selector.is_empty()).collect();
    if given.iter().any(|(_, selector)| selector.len() >= CUT_SELECTOR) {
        return Err("its selector was too long to keep completely".to_owned());
    }
    Ok(given.into_iter().map(|(name, selector)| (name, selector.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespace_names_are_escaped_for_the_shell() {
        let scope = Scope::Namespace("a'; rm -rf ~ '".to_owned());
        let shape = Shape { scope: Some(scope), ..shape("pods") };
        assert_eq!(path(&shape, "v1").unwrap(), "/api/v1/namespaces/a%27%3B%20rm%20-rf%20~%20%27/pods");
    }

    #[test]
    fn path_uses_the_requested_group_version() {
        assert_eq!(path(&shape("deployments.apps"), "apps/v1").unwrap(), "/apis/apps/v1/deployments");
        assert_eq!(
            path(&shape("leases.coordination.k8s.io"), "coordination.k8s.io/v1").unwrap(),
            "/apis/coordination.k8s.io/v1/leases"
        );
    }

    #[test]
    fn unrepeatable_requests_report_the_reason() {
        assert_eq!(path(&shape("pods/log"), "v1").unwrap_err(), "pods/log is not a collection");
        assert_eq!(path(&Shape { scope: None, ..shape("/version") }, "").unwrap_err(), "the request has no resource");
    }

    #[test]
    fn list_options_survive_a_round_trip() {
        let query = "watch=true&resourceVersion=5&resourceVersionMatch=NotOlderThan&limit=500&allowWatchBookmarks=true\
                     &sendInitialEvents=true&timeoutSeconds=400&labelSelector=app%3Dnginx%2Ctier%20in%20%28a%29&fieldSelector=x%3Dy";
        let options = ListOptions::parse(query);
        let again: Vec<String> = parameters(Some(Verb::Watch), &options)
            .unwrap()
            .into_iter()
            .map(|(name, value)| format!("{name}={}", utf8_percent_encode(&value, ENCODED)))
            .collect();
        assert_eq!(ListOptions::parse(&again.join("&")), options);
    }

    #[test]
    fn options_that_cannot_be_reproduced_are_refused() {
        for (query, because) in [
            ("resourceVersion=abc", "its resourceVersion is not a number"),
            ("resourceVersion=1&resourceVersionMatch=abc", "its resourceVersionMatch is unknown"),
            ("continue=abc", "it is a later page, and its continue token is used up"),
            (&format!("labelSelector={}", "a".repeat(2_000)), "its selector was too long to keep completely"),
        ] {
            assert_eq!(parameters(Some(Verb::List), &ListOptions::parse(query)).unwrap_err(), because);
        }
    }

    fn shape(resource: &str) -> Shape {
        Shape { resource: resource.to_owned(), scope: Some(Scope::AllNamespaces), options: String::new(), upstream: None }
    }
}
