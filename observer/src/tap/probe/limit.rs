//! Descriptions of what a probe cannot see because the kernel lacks a feature, or because the target is missing.

use super::kernel::KernelError;

/// The limit if there are no tracepoints that report the sends and receives of threads.
pub(super) const UNPAIRED: &str = "only connections of Go and of OpenSSL 3.0 with its own descriptor are seen";
/// The limit if there is no tracepoint that reports state changes of sockets.
pub(super) const NO_ENDS: &str = "how connections end is not seen";
/// The limit while the first examination of all processes continues, after the probe has stopped waiting for it.
pub(super) const NOT_EXAMINED: &str =
    "examining all processes has taken two minutes and continues: programs and libraries are not seen until they are examined";

/// The limit if watchtap is not in the initial PID namespace.
pub(super) const OTHER_PID_NAMESPACE: &str =
    "only processes of this PID namespace and of those below it are seen, with their PIDs in this one";

/// The cause, and what is not seen because of it.
pub(super) fn without(error: &KernelError, unseen: &str) -> String {
    format!("{error}: {unseen}")
}
