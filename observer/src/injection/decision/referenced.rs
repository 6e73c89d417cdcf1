//! The objects of the input that pods refer to.

use serde_json::Value;

use super::automount::ServiceAccounts;
use super::env_from::VariableSources;

/// The service accounts, config maps and secrets of all files of the input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Referenced {
    pub(super) accounts: ServiceAccounts,
    pub(super) variables: VariableSources,
}

impl Referenced {
    /// Takes the objects of a document.
    pub(in crate::injection) fn learn(&mut self, document: &Value) {
        let items = document.get("items").and_then(Value::as_array);
        for object in items.into_iter().flatten().chain([document]) {
            self.accounts.learn(object);
            self.variables.learn(object);
        }
    }
}

/// Whether two objects may be in the same namespace, as far as their manifests name it. Charts leave out the namespace in some objects
/// and not in others; it is the same one.
pub(super) fn may_share_namespace(one: Option<&str>, other: Option<&str>) -> bool {
    one == other || one.is_none() || other.is_none()
}
