//! Which objects a list or watch is about.

use super::{FieldSelector, LabelSelector};
use crate::demo::api::Resource;
use crate::demo::store::Object;

/// Scope and selectors of one request.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub(crate) resource: &'static Resource,
    /// Of the path; empty for all.
    pub(crate) namespace: String,
    pub(crate) labels: LabelSelector,
    pub(crate) fields: FieldSelector,
}

impl Selection {
    /// Whether selectors may leave something out.
    pub(crate) fn has_selector(&self) -> bool {
        !(self.labels.is_empty() && self.fields.is_empty())
    }

    /// The name, when the request is about one object; then it is read by its key.
    ///
    /// kubernetes/apiserver pkg/registry/generic/registry/store.go v0.34: a namespaced resource needs its namespace, too.
    pub(crate) fn single(&self) -> Option<&str> {
        let name = self.fields.exact("metadata.name")?;
        (!self.resource.namespaced || !self.effective_namespace().is_empty()).then_some(name)
    }

    /// The namespace of the path, or else the one that the field selector demands.
    pub(crate) fn effective_namespace(&self) -> &str {
        if self.namespace.is_empty() { self.fields.exact("metadata.namespace").unwrap_or_default() } else { &self.namespace }
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        (self.namespace.is_empty() || !self.resource.namespaced || object.namespace() == self.namespace)
            && self.labels.matches(object)
            && self.fields.matches(object, self.resource)
    }
}
