//! The form of a list request: its options, without the revision number.

use crate::k8s::{ListOptions, ResourceVersion, ResourceVersionMatch};

/// Options of a list request, without its revision number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    limit: u64,
    names_revision: bool,
    from_any: bool,
    revision_match: ResourceVersionMatch,
}

/// The revision that a list asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListsFrom {
    /// `resourceVersion` is unset: the newest state.
    Newest,
    /// `resourceVersion=0`: any state, such as that of a watch cache that lags.
    Any,
    /// Any other `resourceVersion`.
    Named,
}

impl Form {
    pub(super) const fn lists_from(self) -> ListsFrom {
        match (self.from_any, self.names_revision) {
            (true, _) => ListsFrom::Any,
            (false, true) => ListsFrom::Named,
            (false, false) => ListsFrom::Newest,
        }
    }

    pub(super) const fn of(options: &ListOptions) -> Self {
        Self {
            limit: options.limit,
            names_revision: matches!(options.resource_version, ResourceVersion::At(_) | ResourceVersion::Invalid),
            from_any: matches!(options.resource_version, ResourceVersion::Any),
            revision_match: options.resource_version_match,
        }
    }
}
