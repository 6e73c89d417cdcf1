//! Keeps the descriptions of custom resources for the lifetime of the process.
//!
//! Requests, watches and storages have `&'static` references to resources, since the built-in table is static. So a custom resource
//! is never freed. Equal ones are kept only once, even for several servers, and their number is bounded.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::api::{CORE, Resource, STATUS};

/// Maximum number of different custom resources in one process.
pub(super) const MOST: usize = 500;

static KEPT: Mutex<BTreeMap<Described, &'static Resource>> = Mutex::new(BTreeMap::new());

/// A custom resource, as one version of a definition describes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Described {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) name: String,
    pub(super) singular: String,
    pub(super) kind: String,
    pub(super) namespaced: bool,
    pub(super) short_names: Vec<String>,
    pub(super) categories: Vec<String>,
    pub(super) has_status: bool,
}

/// The resource with this description; `None` if there are too many.
pub(super) fn resource(described: Described) -> Option<&'static Resource> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(resource) = kept.get(&described) {
        return Some(resource);
    }
    if kept.len() >= MOST {
        return None;
    }
    let resource = Box::leak(Box::new(lasting(described.clone())));
    kept.insert(described, resource);
    Some(resource)
}

fn lasting(described: Described) -> Resource {
    let text = |text: String| -> &'static str { text.leak() };
    let texts = |texts: Vec<String>| -> &'static [&'static str] { texts.into_iter().map(text).collect::<Vec<_>>().leak() };
    Resource {
        group: text(described.group),
        version: text(described.version),
        name: text(described.name),
        singular: text(described.singular),
        kind: text(described.kind),
        namespaced: described.namespaced,
        short_names: texts(described.short_names),
        categories: texts(described.categories),
        subresources: if described.has_status { &[STATUS] } else { &[] },
        has_generation: true,
        ..CORE
    }
}
