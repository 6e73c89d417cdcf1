//! What the process says of itself on stderr, beside what it says of the traffic.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;

use crate::terminal::Stderr;

/// What is said unless `WATCHTAP_LOG` says otherwise. The demo's clients meet errors all the time: that is what they are for.
const DEFAULT: &str = "warn,kube_client=off,kube_runtime=off";

/// From here on it is said; called once.
pub(super) fn begin() {
    let filter = EnvFilter::try_from_env("WATCHTAP_LOG").unwrap_or_else(|_unset| EnvFilter::new(DEFAULT));
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Stderr).with_target(false).with_ansi(colour).init();
}
