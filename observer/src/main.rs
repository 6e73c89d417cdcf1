//! The `watchtap` program.

use std::io;
use std::process::ExitCode;

use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let filter = EnvFilter::try_from_env("WATCHTAP_LOG").unwrap_or_else(|_unset| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_target(false).init();
    observer::command::main(std::env::args_os())
}
