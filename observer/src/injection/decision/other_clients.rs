//! Programs that hand the address, the certificate or the token of the API server on to others.

use super::containers::Container;

/// The reason why a container must not be led, by the names of its image and itself.
pub(super) fn writes_for_others(container: &Container<'_>) -> Option<&'static str> {
    let image = container.text("image");
    let image = image.split('@').next().unwrap_or_default();
    let image = image.rsplit('/').next().unwrap_or_default();
    let image = image.split(':').next().unwrap_or_default();
    let has = |word: &str| [image, container.name].iter().any(|name| name.split(['-', '_', '.']).any(|part| part == word));
    if has("cni") || has("multus") {
        return Some("installs a CNI plugin: it writes a kubeconfig with the sidecar's address for programs of the node");
    }
    if has("cainjector") {
        return Some("copies the API server's certificate into webhooks (cert-manager's cainjector)");
    }
    None
}
