//! The pods that a probe sees on the node of the tests.

/// The pod of a manifest, in the PID namespace of the node. The node is a container itself, so its probes see no other pods: the kernel gives
/// them the PIDs of the machine.
pub(super) fn in_sight(manifest: &str) -> String {
    manifest.replacen("spec:\n", "spec:\n  hostPID: true\n", 1)
}
