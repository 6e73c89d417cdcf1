//! What the process says of itself on stderr, beside what it says of the traffic.

use tracing_subscriber::EnvFilter;

use crate::printable::Log;

/// What is said unless `WATCHTAP_LOG` says otherwise. The demo's clients meet errors all the time: that is what they are for.
const DEFAULT: &str = "warn,kube_client=off,kube_runtime=off";

/// From here on it is said; called once. Without colours: a record comes to the gate as text, where the styles of the log and what a stranger
/// made look like them are the same.
pub(super) fn begin() {
    let filter = EnvFilter::try_from_env("WATCHTAP_LOG").unwrap_or_else(|_unset| EnvFilter::new(DEFAULT));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Log).with_target(false).with_ansi(false).init();
}
