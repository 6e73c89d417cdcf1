//! Programs that hand the address, the certificate or the token of the API server on to others.

use std::collections::BTreeSet;

use serde_json::Value;

use super::containers::Container;
use super::mounts::clean;

/// Folders of a node in which CNI plugins are installed.
const CNI: [&str; 2] = ["/etc/cni", "/opt/cni"];

/// Words in the name of a container or of its image, with the activity of such a program.
pub(in crate::injection) const WRITERS: [(&[&str], &str); 2] = [
    (&["cni", "multus"], "installs a CNI plugin: it writes a kubeconfig with the sidecar's address for programs of the node"),
    (&["cainjector"], "copies the API server's certificate into webhooks (cert-manager's cainjector)"),
];

/// The characters between the words of such a name.
pub(in crate::injection) const WORD_ENDS: [char; 3] = ['-', '_', '.'];

/// The activity because of which a container must not be led, by the names of its image and itself.
pub(super) fn writes_for_others(container: &Container<'_>) -> Option<&'static str> {
    let image = container.text("image");
    let image = image.split('@').next().unwrap_or_default();
    let image = image.rsplit('/').next().unwrap_or_default();
    let image = image.split(':').next().unwrap_or_default();
    let words: Vec<&str> = [image, container.name].into_iter().flat_map(|name| name.split(WORD_ENDS)).collect();
    let is_one = |known: &&str| words.contains(known);
    WRITERS.into_iter().find(|(known, _)| known.iter().any(is_one)).map(|(_, activity)| activity)
}

/// The names of the volumes with one of these folders.
pub(super) fn cni_volumes(spec: &Value) -> BTreeSet<&str> {
    let is_cni = |volume: &&Value| {
        let path = volume.pointer("/hostPath/path").and_then(Value::as_str).map(clean).unwrap_or_default();
        CNI.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    let volumes = spec.get("volumes").and_then(Value::as_array).into_iter().flatten();
    volumes.filter(is_cni).filter_map(|volume| volume.get("name").and_then(Value::as_str)).collect()
}

/// Whether a container mounts one of these volumes. Some containers that do so only read there.
pub(super) fn mounts_one_of(container: &Container<'_>, volumes: &BTreeSet<&str>) -> bool {
    let names = container.list("volumeMounts").iter().filter_map(|mount| mount.get("name").and_then(Value::as_str));
    names.into_iter().any(|name| volumes.contains(name))
}
