//! The resource that verification requests, and the known facts about it.

use crate::k8s::{ContinueToken, Resource};

/// Distance to a future revision. No server reaches it within the few seconds of one request.
const FAR: u64 = 1_000_000_000;

/// A name that no object has. An upper-case name would be safer, but invalid.
const ABSENT_NAME: &str = "watchtap-verify-no-such-object";

/// The objects that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// All of the resource.
    All,
    /// Those of one namespace; impossible for a resource without namespaces.
    Namespace,
    /// Those of one namespace, or all of a resource without namespaces. In this scope, a name alone identifies an object.
    Narrowest,
    /// One object that exists.
    Object,
    /// One object that does not exist.
    Absent,
}

/// A resource with objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The resource that is asked for.
    pub resource: Resource,
    /// The namespace of one of its objects; `None` when the resource has no namespaces.
    pub namespace: Option<String>,
    /// The name of that object.
    pub name: String,
}

/// Facts from the first lists of the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The revision of a list without a `resourceVersion`.
    pub revision: u64,
    /// The revision of a list from the watch cache.
    pub cached: u64,
    /// The continue token of a first page; `None` when there is no second page.
    pub continue_token: Option<String>,
}

impl Target {
    /// The path of the complete collection: `/apis/apps/v1/deployments`.
    pub fn collection(resource: &Resource) -> String {
        format!("{}/{}", Self::group_version(resource), resource.resource)
    }

    fn group_version(resource: &Resource) -> String {
        if resource.group.is_empty() {
            format!("/api/{}", resource.version)
        } else {
            format!("/apis/{}/{}", resource.group, resource.version)
        }
    }

    /// The path of a scope; `None` for [`Scope::Namespace`] of a resource without namespaces.
    pub(super) fn path(&self, scope: Scope) -> Option<String> {
        let narrowest = match &self.namespace {
            Some(namespace) => format!("{}/namespaces/{namespace}/{}", Self::group_version(&self.resource), self.resource.resource),
            None => Self::collection(&self.resource),
        };
        match scope {
            Scope::All => Some(Self::collection(&self.resource)),
            Scope::Namespace => self.namespace.is_some().then_some(narrowest),
            Scope::Narrowest => Some(narrowest),
            Scope::Object => Some(format!("{narrowest}/{}", self.name)),
            Scope::Absent => Some(format!("{narrowest}/{ABSENT_NAME}")),
        }
    }
}

impl Known {
    pub(super) fn future(&self) -> u64 {
        self.revision.max(self.cached).saturating_add(FAR)
    }

    /// The token to continue at the latest revision, as a server offers it with a 410.
    pub(super) fn latest_token(&self) -> Option<String> {
        ContinueToken::decode(self.continue_token.as_ref()?).ok()?.at_latest()
    }
}
