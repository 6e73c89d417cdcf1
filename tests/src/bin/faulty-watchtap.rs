//! watchtap with the injected faults that the `panics` tests need.

use std::process::ExitCode;

fn main() -> ExitCode {
    watchtap::cli::main(std::env::args_os())
}
