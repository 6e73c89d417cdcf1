//! The target of a write: the object, and the part of it that changes.

use crate::api::Resource;

/// The object of a write, from its path.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) resource: &'static Resource,
    /// Empty for a cluster-scoped object.
    pub(crate) namespace: String,
    /// Empty for a create.
    pub(crate) name: String,
    pub(crate) part: Part,
    /// Whether to do everything except the write (`dryRun=All`).
    pub(crate) dry_run: bool,
}

/// The part of the object that a write may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything, or everything except the status if the status has its own path.
    Main,
    /// The status only.
    Status,
}

impl Target {
    /// Whether the status has a path of its own.
    pub(super) fn has_status(&self) -> bool {
        self.resource.subresources.iter().any(|subresource| subresource.name == "status")
    }
}
