//! Whose objects are asked for, and what is known of them.

use crate::k8s::{ContinueToken, Resource};

/// How far ahead of everything a revision lies that no server reaches in the seconds of one request.
const FAR: u64 = 1_000_000_000;

/// A name that no object has: names are lower case, but a valid name is wanted.
const ABSENT_NAME: &str = "watchtap-verify-no-such-object";

/// Which objects a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// All of the resource.
    All,
    /// Those of one namespace; nothing for a resource without namespaces.
    Namespace,
    /// Those of one namespace, or all of a resource without namespaces: where a name alone decides.
    Narrowest,
    /// One object that exists.
    Object,
    /// One object that does not.
    Absent,
}

/// A resource with objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Which.
    pub resource: Resource,
    /// The namespace of an object of it; `None` when the resource has none.
    pub namespace: Option<String>,
    /// The name of that object.
    pub name: String,
}

/// What the first lists of the target told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The revision of a list that named none.
    pub revision: u64,
    /// The revision of a list from the watch cache.
    pub cached: u64,
    /// The token of a first page.
    pub continue_token: Option<String>,
}

impl Target {
    /// The path of the whole collection: `/apis/apps/v1/deployments`.
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

    /// The path of a scope; `None` where the resource has no namespaces and one is meant.
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

    /// The token as a 410 would replace it.
    pub(super) fn latest_token(&self) -> Option<String> {
        ContinueToken::decode(self.continue_token.as_ref()?).ok()?.at_latest()
    }
}
