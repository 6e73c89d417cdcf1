//! The verb of a request.

use serde::{Deserialize, Serialize};

/// The verb of a request, as kube-apiserver's `RequestInfo` has it (kubernetes/apiserver pkg/endpoints/request/requestinfo.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// One object by name, or a path that is not a resource.
    Get,
    /// A collection.
    List,
    /// A stream of changes.
    Watch,
    /// A new object.
    Create,
    /// An object replaced completely.
    Update,
    /// A part of an object changed.
    Patch,
    /// One object deleted.
    Delete,
    /// A collection, whose objects the server lists and then deletes one by one.
    DeleteCollection,
    /// The legacy `/proxy/` prefix.
    Proxy,
    /// Any other method, and every method but GET on a path that is not a resource (upstream has the method in lower case there).
    Other,
}

impl Verb {
    /// The verb, as audit logs write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Proxy => "proxy",
            Self::Other => "other",
        }
    }
}
