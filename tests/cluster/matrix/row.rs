//! A row of the matrix: one request with placeholders.

use super::ground::Ground;
use super::resource::Resource;

/// The operation of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Get,
    List,
    Watch,
    /// A deletion of a collection, with `dryRun` and a selector that no object matches, so that only its internal list happens.
    DeleteCollection,
}

/// The target of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// The collection of all namespaces.
    All,
    /// The collection of one namespace.
    Namespace,
    /// One existing object.
    Object,
    /// One object that does not exist.
    Nobody,
    /// The collection of all namespaces, with `watch` in the path.
    WatchPath,
}

/// The time that an answer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Moments,
    /// The server waits 3 s for a revision that never comes.
    TheWait,
}

/// One request with placeholders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) act: Act,
    pub(super) on: On,
    /// The query with placeholders. `{n}` is a revision that is no longer current, and that watchtap saw when it was current.
    /// `{old}` is one that watchtap never saw, and `{future}` one that is never reached. `{token}` is the continue token of a first
    /// page, `{latest}` is a token without a revision, and `{name}` is the object's name.
    pub(super) query: &'static str,
    pub(super) takes: Takes,
}

impl Row {
    pub(super) const fn get(name: &'static str, on: On, query: &'static str) -> Self {
        Self { name, act: Act::Get, on, query, takes: Takes::Moments }
    }

    pub(super) const fn list(name: &'static str, on: On, query: &'static str) -> Self {
        Self { name, act: Act::List, on, query, takes: Takes::Moments }
    }

    pub(super) const fn watch(name: &'static str, on: On, query: &'static str) -> Self {
        Self { name, act: Act::Watch, on, query, takes: Takes::Moments }
    }

    pub(super) const fn delete_collection(name: &'static str, query: &'static str) -> Self {
        Self { name, act: Act::DeleteCollection, on: On::Namespace, query, takes: Takes::Moments }
    }

    pub(super) const fn that_waits(self) -> Self {
        Self { takes: Takes::TheWait, ..self }
    }

    /// Whether it names a revision that the tap never saw as current.
    pub(super) fn is_unseen(&self) -> bool {
        self.query.contains("{old}")
    }

    /// The method and the path with its query.
    pub(super) fn request(&self, resource: &Resource, ground: &Ground) -> (&'static str, String) {
        let path = match self.on {
            On::All => resource.all(),
            On::Namespace => resource.in_namespace(),
            On::Object => resource.object_path(),
            On::Nobody => format!("{}/nobody", resource.in_namespace()),
            On::WatchPath => resource.watch_path(),
        };
        let always = match self.act {
            Act::Get | Act::List => "",
            Act::Watch if self.on == On::WatchPath => "timeoutSeconds=1",
            Act::Watch => "watch=true&timeoutSeconds=1",
            Act::DeleteCollection => "dryRun=All&labelSelector=nobody%3Dhas",
        };
        let options = ground.fill(self.query);
        let query: Vec<&str> = [always, &options].into_iter().filter(|part| !part.is_empty()).collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        (if self.act == Act::DeleteCollection { "DELETE" } else { "GET" }, format!("{path}{query}"))
    }

    /// The request with its placeholders, as in documentation.
    pub(super) fn shape(&self) -> String {
        let (verb, of) = match (self.act, self.on) {
            (Act::Get, On::Nobody) => ("GET", " of an absent object"),
            (Act::Get, _) => ("GET", ""),
            (Act::List, On::Namespace) => ("LIST", " of a namespace"),
            (Act::List, _) => ("LIST", ""),
            (Act::Watch, On::WatchPath) => ("WATCH", " by path"),
            (Act::Watch, _) => ("WATCH", ""),
            (Act::DeleteCollection, _) => ("DELETECOLLECTION", ""),
        };
        if self.query.is_empty() { format!("{verb}{of}") } else { format!("{verb}{of} {}", self.query.replace('&', " ")) }
    }
}
