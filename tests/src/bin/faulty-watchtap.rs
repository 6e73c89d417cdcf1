//! watchtap with the injected faults that the `panics` tests need.

use std::process::ExitCode;

fn main() -> ExitCode {
    watchtap::command::main(std::env::args_os())
}
