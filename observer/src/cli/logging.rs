//! The process's own log on stderr.

use tracing_subscriber::EnvFilter;

use crate::printable::Log;

/// The filter unless `WATCHTAP_LOG` sets one. The demo's clients meet errors on purpose, so kube-rs does not log them.
const DEFAULT: &str = "warn,kube_client=off,kube_runtime=off";

/// Starts the log; call it once. It has no colours: at the gate a record is plain text, where our styles and a stranger's imitation
/// look the same.
pub(super) fn begin() {
    let filter = EnvFilter::try_from_env("WATCHTAP_LOG").unwrap_or_else(|_unset| EnvFilter::new(DEFAULT));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Log).with_target(false).with_ansi(false).init();
}
