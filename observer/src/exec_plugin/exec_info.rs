//! Reads and edits `KUBERNETES_EXEC_INFO`, the variable in which a client describes the cluster to its exec plugin.

use serde_json::{Map, Value};

/// The environment variable with this information.
pub(crate) const EXEC_INFO: &str = "KUBERNETES_EXEC_INFO";

/// The address of the server that the client needs a credential for, if the client included it (`provideClusterInfo`).
pub(crate) fn server(info: &Value) -> Option<&str> {
    info.get("spec")?.get("cluster")?.get("server")?.as_str()
}

/// Replaces fields of the client's copy of the cluster in `info` with those of the original. Other fields stay, such as `config`.
/// Nothing is added if `info` has no cluster.
pub(crate) fn with_cluster(info: &str, original: &Map<String, Value>) -> Option<String> {
    let mut info: Value = serde_json::from_str(info).ok()?;
    let cluster = info.get_mut("spec")?.get_mut("cluster")?.as_object_mut()?;
    for field in ["server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url"] {
        cluster.shift_remove(field);
    }
    cluster.extend(original.clone());
    Some(info.to_string())
}
