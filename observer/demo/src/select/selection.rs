//! The objects that a list or watch selects.

use super::{FieldSelector, LabelSelector};
use crate::api::Resource;
use crate::store::Object;

/// The scope and the selectors of one request.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub(crate) resource: &'static Resource,
    /// The namespace in the path; empty for all.
    pub(crate) namespace: String,
    pub(crate) labels: LabelSelector,
    pub(crate) fields: FieldSelector,
}

impl Selection {
    /// Whether selectors may exclude objects.
    pub(crate) fn has_selector(&self) -> bool {
        !(self.labels.is_empty() && self.fields.is_empty())
    }

    /// The name, if the request selects one object, which is then read by its key.
    ///
    /// kubernetes/apiserver pkg/registry/generic/registry/store.go v0.34: a namespaced resource also needs its namespace.
    pub(crate) fn single(&self) -> Option<&str> {
        let name = self.fields.exact("metadata.name")?;
        (!self.resource.namespaced || !self.effective_namespace().is_empty()).then_some(name)
    }

    /// The namespace in the path, otherwise the one that the field selector requires.
    pub(crate) fn effective_namespace(&self) -> &str {
        if self.namespace.is_empty() { self.fields.exact("metadata.namespace").unwrap_or_default() } else { &self.namespace }
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        (self.namespace.is_empty() || !self.resource.namespaced || object.namespace() == self.namespace)
            && self.labels.matches(object)
            && self.fields.matches(object, self.resource)
    }
}
