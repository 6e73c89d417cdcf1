//! The process's own log on stderr.

use std::env;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt, registry};

use crate::printable::Log;

/// Starts the log; call it once. It has no colours: at the gate a record is plain text, where our styles and an imitation in
/// untrusted text look the same.
pub(super) fn begin() {
    let wanted = env::var("WATCHTAP_LOG").ok().filter(|wanted| !wanted.is_empty());
    let filter = wanted.and_then(|wanted| wanted.parse().ok()).unwrap_or_else(default);
    let log = fmt::layer().with_writer(|| Log).with_target(false).with_ansi(false);
    registry().with(log.with_filter(filter)).init();
}

/// The filter unless `WATCHTAP_LOG` holds one. The demo's clients meet errors on purpose, so kube-rs does not log them.
fn default() -> Targets {
    let silent = [("kube_client", LevelFilter::OFF), ("kube_runtime", LevelFilter::OFF)];
    Targets::new().with_default(LevelFilter::WARN).with_targets(silent)
}
