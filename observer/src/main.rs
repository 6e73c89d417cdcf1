//! The `watchtap` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    observer::command::main(std::env::args_os())
}
