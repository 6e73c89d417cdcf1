//! The `watchtap` program.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use tracing_subscriber::EnvFilter;

/// What goes to stderr unless `WATCHTAP_LOG` says otherwise. The demo's clients meet errors all the time: that is what they are for.
const DEFAULT_LOG: &str = "warn,kube_client=off,kube_runtime=off";

fn main() -> ExitCode {
    let filter = EnvFilter::try_from_env("WATCHTAP_LOG").unwrap_or_else(|_unset| EnvFilter::new(DEFAULT_LOG));
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_target(false).with_ansi(colour).init();
    observer::command::main(std::env::args_os())
}
