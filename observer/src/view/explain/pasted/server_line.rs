//! Lines of kube-apiserver about its watch caches, and its traces.

use observer_core::logs::{CacheEvent, CacheLine, CacheWatch, CachedResource, EtcdListSpan, LayerSpans, RequestTrace, TraceSpan};
use observer_core::time::Timestamp;

use super::content::{Content, kind_of};
use super::requests::duration;
use crate::view::quantity::counted;

const CACHE: &[&str] = &["the clients whose watches end", "the lists that follow"];
const TRACE: &[&str] = &[
    "the query: the URL in a trace has none, so the rule is unknown",
    "layers that are not named: quick spans are left out, which proves nothing",
    "requests that were quicker than the threshold (0.5 s; from 1.31 on, nothing below -v=2)",
];
const CLIENT_TRACE: &[&str] = &["the request itself", "the layer of the API server"];
/// Most steps and spans that are shown of a trace.
const MOST_STEPS: usize = 16;

pub(super) fn of_cache(line: &CacheLine) -> Content {
    let resource = line.resource.as_ref().map(|resource| match resource {
        CachedResource::Named(name) | CachedResource::GoType(name) => name.clone(),
    });
    let name = resource.clone().unwrap_or_else(|| "a resource".to_owned());
    let content = |meaning: String| {
        Content { at: line.at, meaning, not_shown: CACHE, ..Content::default() }.with_some("resource", resource.clone())
    };
    match &line.event {
        CacheEvent::Restarted => content(format!(
            "the watch cache of {name} starts again: all watches of {name} end, and clients whose watch the new cache cannot resume relist"
        )),
        CacheEvent::SourceFailed(error) => {
            content(format!("the watch cache's own list or watch of {name} in etcd failed, so the cache starts again"))
                .with("error", kind_of(error))
        }
        CacheEvent::Initialized => {
            content(format!("the watch cache of {name} is ready; lists before this were not answered from it"))
        }
        CacheEvent::WatchUnresponsive { watch, waiting, graceful } => of_watch(
            content("the server closes a watch because its client reads too slowly; the client lists or resumes next".to_owned()),
            watch.as_ref(),
        )
        .with_some("waiting", waiting.map(|waiting| counted(waiting, "event")))
        .with_some("graceful", graceful.map(|graceful| graceful.to_string())),
        CacheEvent::InitialEvents { watch, events, took } => of_watch(
            content("the cache sent a watch its first events, which took more than 0.5 s: all objects, or all changes since its revision".to_owned()),
            watch.as_ref(),
        )
        .with("sent", counted(*events, "event"))
        .with("took", duration(*took)),
        CacheEvent::EtcdWatchFailed(error) => {
            content("a watch of etcd failed; a client's watch that etcd serves, without the watch cache, ends with it".to_owned())
                .with("error", kind_of(error))
        }
        CacheEvent::Inconsistent { resource_version } => {
            content(format!("the watch cache of {name} differs from etcd: no verdict about this cache holds afterwards"))
                .with("compared at", &**resource_version)
        }
    }
}

fn of_watch(content: Content, watch: Option<&CacheWatch>) -> Content {
    let Some(CacheWatch { key, labels, fields }) = watch else { return content };
    content.with("keys", &**key).with("labels", &**labels).with("fields", &**fields)
}

pub(super) fn of_trace(trace: &RequestTrace) -> Content {
    let is_of_client = trace.name().starts_with("Reflector ");
    let meaning = match trace.layers() {
        _ if is_of_client => "a reflector's first list took more than 10 s",
        LayerSpans { etcd: Some(EtcdListSpan::Range), cache: true } => {
            "a slow list: the watch cache was asked, and a range of keys was read from etcd"
        }
        LayerSpans { etcd: Some(EtcdListSpan::Range), cache: false } => "a slow list: a range of keys was read from etcd",
        LayerSpans { etcd: Some(EtcdListSpan::OneKey), cache: true } => {
            "a slow list: the watch cache was asked, and one key of etcd was read: the current revision, if the key is only a prefix"
        }
        LayerSpans { etcd: Some(EtcdListSpan::OneKey), cache: false } => "a slow request: one key was read from etcd",
        LayerSpans { etcd: None, cache: true } => "a slow list of the watch cache",
        LayerSpans { etcd: None, cache: false } => "a slow operation, without a span of a layer",
    };
    let mut content = Content {
        at: trace.logged.or(trace.start),
        meaning: meaning.to_owned(),
        shows: trace.recorded_read(),
        not_shown: if is_of_client { CLIENT_TRACE } else { TRACE },
        ..Content::default()
    }
    .with("operation", trace.name())
    .with("path", path(&trace.url))
    .with("audit ID", &*trace.audit_id)
    .with("client", &*trace.user_agent)
    .with("address", &*trace.client)
    .with("took", duration(trace.total))
    .with_some("objects", trace.count().map(|count| count.to_string()));
    for step in trace.spans.iter().flat_map(steps).take(MOST_STEPS) {
        content = content.with("step", step);
    }
    if trace.is_cut {
        content = content.with("torn", "the line that ends the trace is missing");
    }
    content
}

/// A span inside the block's own, and the steps of a span.
fn steps(span: &TraceSpan) -> impl Iterator<Item = String> {
    let key = if span.key.is_empty() { String::new() } else { format!(", key {}", span.key) };
    let own = (span.depth > 0).then(|| format!("{}: {}{key}", duration(span.took), span.name));
    let indent = "  ".repeat(span.depth.min(4));
    let steps = span.steps.iter().map(move |step| {
        let count = step.count.map(|count| format!(", {}", counted(count, "object"))).unwrap_or_default();
        format!("{indent}{}: {}{count}", duration(step.took), step.message)
    });
    own.into_iter().chain(steps)
}

/// The path of a URL, whose query may hold a secret.
fn path(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

pub(super) fn of_torn_trace(at: Option<Timestamp>) -> Content {
    let meaning =
        "a line of a trace whose first line is missing; paste all lines with its number, from the one with `total time` on";
    Content { at, meaning: meaning.to_owned(), not_shown: TRACE, ..Content::default() }
}
