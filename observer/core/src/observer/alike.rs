//! Matches the request shapes of two runs with each other, so that the runs can be compared.

use std::collections::BTreeMap;

use super::snapshot::Snapshot;
use crate::exchange::{Scope, Shape};

/// Facts of both runs that show which shapes are the same.
pub(super) struct Alike {
    /// Scope of each resource that was requested without a namespace; `None` if shapes of the resource have different scopes.
    scopes: BTreeMap<String, Option<Scope>>,
    /// Whether shapes name their API server in both runs.
    upstream_names: bool,
}

impl Alike {
    pub(super) fn of(runs: [&Snapshot; 2]) -> Self {
        let mut scopes: BTreeMap<String, Option<Scope>> = BTreeMap::new();
        for shape in runs.into_iter().flat_map(shapes) {
            if let Some(scope @ (Scope::AllNamespaces | Scope::Cluster)) = &shape.scope {
                let known = scopes.entry(shape.resource.clone()).or_insert_with(|| Some(scope.clone()));
                if known.as_ref() != Some(scope) {
                    *known = None;
                }
            }
        }
        Self { scopes, upstream_names: runs.iter().all(|run| !run.upstreams.is_empty()) }
    }

    /// Returns `shape` in a form that can be compared between the runs. An unknown scope is replaced by the scope of other shapes
    /// of the resource. The API server is named only if both runs used several.
    pub(super) fn key(&self, shape: &Shape) -> Shape {
        let mut key = shape.clone();
        if key.scope == Some(Scope::All) {
            key.scope = self.scopes.get(&key.resource).cloned().flatten().or(key.scope);
        }
        key.upstream = key.upstream.filter(|_| self.upstream_names);
        key
    }
}

fn shapes(run: &Snapshot) -> impl Iterator<Item = &Shape> {
    let lists = run.lists.iter().map(|row| &row.shape);
    let watches = run.watches.iter().map(|row| &row.shape);
    let others = run.others.iter().map(|row| &row.shape);
    lists.chain(watches).chain(others)
}
