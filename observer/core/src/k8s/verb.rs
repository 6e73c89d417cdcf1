//! What a request asks for.

use serde::{Deserialize, Serialize};

/// The verb of a request, as kube-apiserver's `RequestInfo` has it (kubernetes/apiserver pkg/endpoints/request/requestinfo.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// One object by name.
    Get,
    /// A collection.
    List,
    /// A stream of changes.
    Watch,
    /// A new object.
    Create,
    /// A whole object replaced.
    Update,
    /// A part of an object changed.
    Patch,
    /// One object deleted.
    Delete,
    /// A collection listed by the server and deleted one by one.
    DeleteCollection,
    /// The legacy `/proxy/` prefix.
    Proxy,
    /// Any other method, and every request that is not about a resource (then it is the method in lower case upstream).
    Other,
}

impl Verb {
    /// The word, as in audit logs.
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
