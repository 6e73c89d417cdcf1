//! The `watchtap` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    observer::cli::main(std::env::args_os())
}
