//! The object that a write changes.

use crate::demo::api::Resource;

/// The object of a write, from its path.
#[derive(Clone, Debug)]
pub(in crate::demo) struct Target {
    pub(in crate::demo) resource: &'static Resource,
    /// Empty for a cluster-scoped object.
    pub(in crate::demo) namespace: String,
    /// Empty for a create.
    pub(in crate::demo) name: String,
    pub(in crate::demo) part: Part,
    /// Whether to do everything except the write (`dryRun=All`).
    pub(in crate::demo) dry_run: bool,
}

/// The part of the object that a write may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demo) enum Part {
    /// Everything except the status, if the status has a path of its own.
    Main,
    /// The status only.
    Status,
}

impl Target {
    /// Whether the status has a path of its own.
    pub(super) fn has_status(&self) -> bool {
        self.resource.subresources.iter().any(|subresource| subresource.name == "status")
    }

    /// Whether the server counts changes of the specification.
    pub(super) fn has_generation(&self) -> bool {
        matches!(self.resource.group, "apps" | "batch")
    }
}
