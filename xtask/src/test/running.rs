//! Runs one group, passes cargo's output through, and counts the tests in it.

use std::io::{BufRead, BufReader, Write};
use std::process::{ExitStatus, Stdio};
use std::time::Instant;

use anyhow::Context;

use super::extent::Extent;
use super::group::Group;
use super::libtest::Tally;
use super::matrix::Matrix;
use super::report::{Outcome, Took};
use super::signals;
use crate::workspace;

/// Runs all tests of `group`, even after a failure, with these variables in their environment.
pub(crate) fn run(group: Group, extent: Extent, matrix: &Matrix, environment: &[(&str, String)]) -> anyhow::Result<Outcome> {
    println!("\n== {}", group.name());
    let mut tally = Tally::default();
    let mut took = Took::default();
    let mut cargo_failure = None;
    for arguments in group.cargo_calls(extent, matrix) {
        let call = cargo_test(&arguments, environment)?;
        tally += call.tally;
        took += call.took;
        if !call.status.success() {
            cargo_failure = Some(call.status.to_string());
        }
    }
    Ok(Outcome::ran(tally, cargo_failure, took))
}

/// One run of `cargo test`.
struct Call {
    tally: Tally,
    took: Took,
    status: ExitStatus,
}

fn cargo_test(arguments: &[String], environment: &[(&str, String)]) -> anyhow::Result<Call> {
    let begun = Instant::now();
    let mut command = workspace::cargo();
    command.args(signals::cargo_arguments()).args(["test", "--workspace", "--no-fail-fast"]).args(arguments);
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    let mut cargo = command.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let output = cargo.stdout.take().context("cargo's output is not piped")?;
    let (tally, built) = pass_on_and_count(BufReader::new(output), std::io::stdout().lock())?;
    let status = cargo.wait()?;
    let total = begun.elapsed();
    // If no test started, all of the time was spent on the build.
    let building = built.map_or(total, |built| built.duration_since(begun));
    Ok(Call { tally, took: Took { total, building }, status })
}

/// Copies the output line by line, and counts its tests. Also returns the time at which the first test binary started. Tests may
/// print any bytes.
fn pass_on_and_count(mut from: impl BufRead, mut to: impl Write) -> anyhow::Result<(Tally, Option<Instant>)> {
    let mut tally = Tally::default();
    let mut built = None;
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        if line.starts_with(b"running ") {
            built.get_or_insert_with(Instant::now);
        }
        if let Some(counted) = Tally::of_line(&String::from_utf8_lossy(&line)) {
            tally += counted;
        }
        line.clear();
    }
    Ok((tally, built))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_passed_on_unchanged_and_counted() {
        let output = b"running 1 test\n\xff\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\nno end of line".as_slice();
        let mut seen = Vec::new();
        let (tally, built) = pass_on_and_count(output, &mut seen).unwrap();
        assert_eq!(seen, output);
        assert_eq!(tally, Tally { passed: 1, failed: 0, ignored: 0 });
        assert!(built.is_some());
    }

    #[test]
    fn failed_build_has_no_end_time() {
        assert_eq!(pass_on_and_count(b"error: no such target\n".as_slice(), Vec::new()).unwrap(), (Tally::default(), None));
    }
}
