//! The pods that are asked for, and the path of the request.

use crate::dns_label::is_dns_label;
use crate::pod_layout::{LABEL, LABEL_VALUE};

/// The namespaces whose pods are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    AllNamespaces,
    Namespace(String),
}

impl Scope {
    /// A namespace, if this can be the name of one. So the name cannot change the path of the request.
    pub(crate) fn namespace(name: &str) -> Option<Self> {
        is_dns_label(name).then(|| Self::Namespace(name.to_owned()))
    }

    /// The list of the pods that request a sidecar. With `resourceVersion=0`, every API server answers it from its watch cache, so it
    /// reads nothing from etcd; a limit would have no effect.
    pub(super) fn path(&self) -> String {
        let within = match self {
            Self::AllNamespaces => String::new(),
            Self::Namespace(name) => format!("/namespaces/{name}"),
        };
        let label = LABEL.replace('/', "%2F");
        format!("/api/v1{within}/pods?labelSelector={label}%3D{LABEL_VALUE}&resourceVersion=0")
    }

    /// In words, after *in*.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::AllNamespaces => "all namespaces".to_owned(),
            Self::Namespace(name) => format!("namespace {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_selects_labelled_pods_from_the_cache() {
        let query = "labelSelector=watchtap.dev%2Finject%3Denabled&resourceVersion=0";
        assert_eq!(Scope::AllNamespaces.path(), format!("/api/v1/pods?{query}"));
        assert_eq!(Scope::namespace("shop").unwrap().path(), format!("/api/v1/namespaces/shop/pods?{query}"));
    }

    #[test]
    fn name_that_would_change_the_path_is_no_namespace() {
        for wrong in ["", "a/../b", "a?watch=true", "-a"] {
            assert_eq!(Scope::namespace(wrong), None, "{wrong}");
        }
    }
}
