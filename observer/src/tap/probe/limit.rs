//! What is not seen where the kernel does not do all that a probe asks for.

use super::kernel::KernelError;

/// Without the tracepoints that tell what threads send and receive.
pub(super) const UNPAIRED: &str = "only connections of Go and of OpenSSL 3.0 with its own descriptor are seen";
/// Without the tracepoint that tells how sockets change.
pub(super) const NO_ENDS: &str = "how connections end is not seen";

/// Why, and what is not seen for it.
pub(super) fn without(error: &KernelError, unseen: &str) -> String {
    format!("{error}: {unseen}")
}
