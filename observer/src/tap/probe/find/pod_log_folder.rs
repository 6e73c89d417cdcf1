//! The name of a pod's log folder.
//!
//! The kubelet names it `NAMESPACE_NAME_UID` (`BuildPodLogsDirectory` of kubernetes/kubernetes
//! `pkg/kubelet/kuberuntime/helpers.go`, 1.34.4). Neither of the three parts can contain `_`.

use observer_core::k8s::{Container, Pod, Workload};

use crate::dns_label::{is_dns_label, is_dns_subdomain};

/// The pod and its UID; `None` if the kubelet gives no folder such a name. `node` is the name of this node.
pub(super) fn pod_of_folder(folder: &str, node: &str) -> Option<(Pod, String)> {
    let (rest, uid) = folder.rsplit_once('_')?;
    let (namespace, name) = rest.split_once('_')?;
    if !is_dns_label(namespace) || !is_dns_subdomain(name) || !Container::is_pod_uid(uid) {
        return None;
    }
    let is_static = Container::nameless(String::new(), uid.to_owned()).is_static();
    let workload = if is_static { Workload::of_static_pod(name, node) } else { Workload::of_pod(name) };
    Some((Pod { namespace: namespace.to_owned(), name: name.to_owned(), workload }, uid.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UID: &str = "5f1b2c3d-0a1b-4c5d-8e9f-001122334455";
    const HASH: &str = "d41d8cd98f00b204e9800998ecf8427e";

    #[test]
    fn folder_names_namespace_pod_and_uid() {
        for (folder, namespace, name, uid, workload) in [
            ("default_web-5d4c6b9f7d-x2k9p_UID", "default", "web-5d4c6b9f7d-x2k9p", UID, Some("web")),
            ("kube-system_etcd-node-1_HASH", "kube-system", "etcd-node-1", HASH, Some("etcd")),
            // Only static pods are named after their node.
            ("kube-system_etcd-node-1_UID", "kube-system", "etcd-node-1", UID, Some("etcd-node")),
            ("a_pod.with.dots_UID", "a", "pod.with.dots", UID, None),
        ] {
            let (pod, found) = pod_of_folder(&folder.replace("UID", UID).replace("HASH", HASH), "node-1").unwrap();
            let found_workload = pod.workload.map(|workload| workload.name);
            assert_eq!((pod.namespace.as_str(), pod.name.as_str(), found.as_str()), (namespace, name, uid));
            assert_eq!(found_workload.as_deref(), workload, "{folder}");
        }
    }

    #[test]
    fn folder_of_another_form_is_rejected() {
        for folder in [
            "",
            "_",
            "__",
            "UID",
            "default_UID",
            "default_web",
            "default_web_",
            "default_web_1",
            "default_web_UID0",
            "_web_UID",
            "default__UID",
            "default_a_b_UID",
            "Default_web_UID",
            "default_Web_UID",
            "default_-web_UID",
            "default_../web_UID",
            "default_web_UID.tmp",
            "default_\u{1b}[2J_UID",
            "de.fault_web_UID",
        ] {
            assert_eq!(pod_of_folder(&folder.replace("UID", UID), "node-1"), None, "{folder}");
        }
        let long = |length: usize| format!("default_{}_{UID}", "n".repeat(length));
        assert!(pod_of_folder(&long(253), "").is_some());
        assert_eq!(pod_of_folder(&long(254), ""), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Names have only the letters that Kubernetes accepts, and no part of the folder's name is lost.
        #[test]
        fn any_folder_gives_valid_names_or_none(
            folder in prop_oneof![any::<String>(), "[a-z0-9_.-]{0,40}", "[a-zA-Z0-9._\u{1b}-]{1,9}_[a-z0-9._-]{1,12}"],
            node in any::<String>(),
            uid in prop_oneof![Just(UID), Just(HASH), Just("")],
        ) {
            let folder = format!("{folder}_{uid}");
            if let Some((pod, found)) = pod_of_folder(&folder, &node) {
                prop_assert_eq!(format!("{}_{}_{found}", pod.namespace, pod.name), folder);
                let is_plain = |text: &str| {
                    text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.')) && !text.is_empty()
                };
                prop_assert!(is_plain(&pod.namespace) && is_plain(&pod.name));
                if let Some(workload) = pod.workload {
                    prop_assert!(is_plain(&workload.name) && pod.name.starts_with(&workload.name));
                }
            }
        }
    }
}
