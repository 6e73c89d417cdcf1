//! watchtap with the faults that the tests of `panics` ask for.

use std::process::ExitCode;

fn main() -> ExitCode {
    watchtap::command::main(std::env::args_os())
}
