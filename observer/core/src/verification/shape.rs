//! The catalogue of requests that verification makes.

use super::target::{Known, Scope, Target};

/// One way to ask for objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Title for output: `list, RV=N, limit`.
    pub title: &'static str,
    /// The objects that it asks for.
    pub scope: Scope,
    /// The query, with placeholders in braces for facts about the target.
    query: &'static str,
}

const fn shape(title: &'static str, scope: Scope, query: &'static str) -> Shape {
    Shape { title, scope, query }
}

/// Every shape, in the order of the requests. `RV=N` is a revision that the watch cache has reached.
pub const SHAPES: &[Shape] = &[
    shape("list, RV unset", Scope::All, ""),
    shape("list, RV unset, one namespace", Scope::Namespace, ""),
    shape("list, RV unset, label selector", Scope::All, "labelSelector=watchtap.example%21%3Dnone"),
    shape("list, RV unset, one name", Scope::Narrowest, "fieldSelector=metadata.name%3D{name}"),
    shape("list, RV unset, limit", Scope::All, "limit=1"),
    shape("list, RV unset, limit, label selector", Scope::All, "limit=1&labelSelector=watchtap.example%21%3Dnone"),
    shape("list, RV=0", Scope::All, "resourceVersion=0"),
    shape("list, RV=0, limit", Scope::All, "resourceVersion=0&limit=1"),
    shape("list, RV=0, NotOlderThan", Scope::All, "resourceVersion=0&resourceVersionMatch=NotOlderThan"),
    shape("list, RV=N", Scope::All, "resourceVersion={cached}"),
    shape("list, RV=N, limit", Scope::All, "resourceVersion={revision}&limit=1"),
    shape("list, RV=N, NotOlderThan", Scope::All, "resourceVersion={cached}&resourceVersionMatch=NotOlderThan"),
    shape("list, RV=N, NotOlderThan, limit", Scope::All, "resourceVersion={cached}&resourceVersionMatch=NotOlderThan&limit=1"),
    shape("list, RV=N, Exact", Scope::All, "resourceVersion={revision}&resourceVersionMatch=Exact"),
    shape("list, RV=N, Exact, limit", Scope::All, "resourceVersion={revision}&resourceVersionMatch=Exact&limit=1"),
    shape(
        "list, RV=N, Exact, one name",
        Scope::Narrowest,
        "resourceVersion={revision}&resourceVersionMatch=Exact&fieldSelector=metadata.name%3D{name}",
    ),
    shape("list, continued", Scope::All, "limit=1&continue={continue}"),
    shape("list, continued, RV=0", Scope::All, "resourceVersion=0&limit=1&continue={continue}"),
    shape("list, continued at the latest revision", Scope::All, "limit=1&continue={continue-latest}"),
    shape("list, RV in the future", Scope::All, "resourceVersion={future}"),
    shape("list, RVM without RV", Scope::All, "resourceVersionMatch=NotOlderThan"),
    shape("list, RV=0, Exact", Scope::All, "resourceVersion=0&resourceVersionMatch=Exact"),
    shape("list, continued, RV=N", Scope::All, "resourceVersion={revision}&continue={continue}"),
    shape("list, sendInitialEvents", Scope::All, "sendInitialEvents=true"),
    shape("get, RV unset", Scope::Object, ""),
    shape("get, RV=0", Scope::Object, "resourceVersion=0"),
    shape("get, RV=N", Scope::Object, "resourceVersion={cached}"),
    shape("get, RV in the future", Scope::Object, "resourceVersion={future}"),
    shape("get of nothing, RV unset", Scope::Absent, ""),
    shape("get of nothing, RV=0", Scope::Absent, "resourceVersion=0"),
    shape("watch, RV unset", Scope::All, "watch=true&timeoutSeconds=1"),
    shape("watch, RV=0", Scope::All, "watch=true&timeoutSeconds=1&resourceVersion=0"),
    shape("watch, RV=N", Scope::All, "watch=true&timeoutSeconds=1&resourceVersion={cached}"),
    shape("watch, RV=1", Scope::All, "watch=true&timeoutSeconds=1&resourceVersion=1"),
    shape(
        "watch list, RV unset",
        Scope::All,
        "watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
    ),
    shape(
        "watch list, RV=0",
        Scope::All,
        "watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0",
    ),
    shape(
        "watch list, RV=N",
        Scope::All,
        "watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true\
         &resourceVersion={cached}",
    ),
];

impl Shape {
    /// Path and query of the request; `None` if the target has no such objects, or a fact about it is unknown.
    pub fn request(&self, target: &Target, known: &Known) -> Option<String> {
        let path = target.path(self.scope)?;
        let mut query = String::new();
        let mut rest = self.query;
        while let Some((before, behind)) = rest.split_once('{') {
            let (name, after) = behind.split_once('}')?;
            query.push_str(before);
            query.push_str(&value(name, target, known)?);
            rest = after;
        }
        query.push_str(rest);
        Some(if query.is_empty() { path } else { format!("{path}?{query}") })
    }

    /// Whether the target has such objects: a resource without namespaces has none in one namespace.
    pub fn is_of(&self, target: &Target) -> bool {
        target.path(self.scope).is_some()
    }

    /// Whether the answer comes only after the three seconds that a server waits for a revision.
    pub fn is_waiting(&self) -> bool {
        self.query.contains("{future}")
    }

    /// Whether it is a watch, which ends by its own `timeoutSeconds=1`.
    pub fn is_watch(&self) -> bool {
        self.query.starts_with("watch=true")
    }
}

fn value(name: &str, target: &Target, known: &Known) -> Option<String> {
    match name {
        "name" => Some(target.name.clone()),
        "cached" => Some(known.cached.to_string()),
        "revision" => Some(known.revision.to_string()),
        "future" => Some(known.future().to_string()),
        "continue" => known.continue_token.clone(),
        "continue-latest" => known.latest_token(),
        _ => None,
    }
}
