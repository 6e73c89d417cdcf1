//! What a client tells a plug-in: `KUBERNETES_EXEC_INFO`.

use serde_json::{Map, Value};

/// The variable that it is in.
pub const EXEC_INFO: &str = "KUBERNETES_EXEC_INFO";

/// The server of which the client speaks, if it tells (`provideClusterInfo`).
pub(super) fn server(info: &Value) -> Option<&str> {
    info.get("spec")?.get("cluster")?.get("server")?.as_str()
}

/// `info` with the fields of the client's copy of the cluster replaced by those of the original. What the copy has as it was, `config`
/// for one, stays; nothing is added where the client tells nothing of the cluster.
pub fn with_cluster(info: &str, original: &Map<String, Value>) -> Option<String> {
    let mut info: Value = serde_json::from_str(info).ok()?;
    let cluster = info.get_mut("spec")?.get_mut("cluster")?.as_object_mut()?;
    for field in ["server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url"] {
        cluster.shift_remove(field);
    }
    cluster.extend(original.clone());
    Some(info.to_string())
}
