//! Programs that read or run the image.

use std::ffi::OsStr;
use std::process::{Command, Output};

/// Runs a program that must succeed, and returns what it printed.
#[track_caller]
pub(crate) fn output(program: &str, arguments: &[&OsStr]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program} does not start: {error}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", printed(&output));
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn printed(output: &Output) -> String {
    [&*output.stdout, &*output.stderr].map(String::from_utf8_lossy).concat()
}
