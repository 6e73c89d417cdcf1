//! Runs one group, passes its output on, and counts the tests in it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use anyhow::Context;

use super::extent::Extent;
use super::group::Group;
use super::kernels::Kernels;
use super::libtest::{Failure, Failures, Tally};
use super::matrix::Matrix;
use super::report::{Outcome, Took};
use super::{processor_time, signals};
use crate::workspace;

/// Where the output of a group goes.
pub(super) enum Output {
    /// To this process's standard output and error.
    Shown,
    /// Both into this file.
    Kept(PathBuf),
}

/// Runs all tests of `group`, even after a failure, with these variables in their environment.
pub(super) fn run(
    group: Group,
    extent: Extent,
    matrix: &Matrix,
    kernels: &Kernels,
    environment: &[(&str, String)],
    output: &Output,
) -> anyhow::Result<Outcome> {
    let mut tally = Tally::default();
    let mut took = Took::default();
    let mut failures = Vec::new();
    let mut cargo_failure = None;
    for arguments in group.cargo_calls(extent, matrix, kernels) {
        let call = cargo_test(&arguments, environment, output)?;
        tally += call.tally;
        took += call.took;
        failures.extend(call.failures);
        if !call.status.success() {
            cargo_failure = Some(call.status.to_string());
        }
    }
    Ok(Outcome::ran(tally, cargo_failure, took).with_failures(failures))
}

/// One run of `cargo test`, or of a command that prepares it.
pub(super) struct Call {
    pub(super) tally: Tally,
    pub(super) failures: Vec<Failure>,
    pub(super) took: Took,
    pub(super) status: ExitStatus,
}

fn cargo_test(arguments: &[String], environment: &[(&str, String)], output: &Output) -> anyhow::Result<Call> {
    let mut command = workspace::cargo();
    command.args(signals::cargo_arguments()).args(["test", "--workspace", "--no-fail-fast"]).args(arguments);
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    call(command, output)
}

/// Runs a command to its end, and passes its output on line by line.
pub(super) fn call(mut command: Command, output: &Output) -> anyhow::Result<Call> {
    let begun = Instant::now();
    let to: Box<dyn Write> = match output {
        Output::Shown => Box::new(stdout()),
        Output::Kept(path) => {
            let file = appended(path)?;
            command.stderr(file.try_clone()?);
            Box::new(file)
        }
    };
    let spawned = command.stdout(Stdio::piped()).spawn();
    let mut child = spawned.with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let from = child.stdout.take().context("the output is not piped")?;
    let Counted { tally, failures, built } = pass_on_and_count(BufReader::new(from), to)?;
    let processors = processor_time::of_child(child.id());
    let status = child.wait()?;
    let total = begun.elapsed();
    // If no test started, all of the time was spent on the build.
    let building = built.map_or(total, |built| built.duration_since(begun));
    Ok(Call { tally, failures, took: Took { total, building, processors }, status })
}

/// Opens the file to append to it, as a group may have several commands.
fn appended(path: &Path) -> anyhow::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::options().create(true).append(true).open(path).with_context(|| format!("cannot write {}", path.display()))
}

/// The results in an output.
#[derive(Debug, Default)]
struct Counted {
    tally: Tally,
    failures: Vec<Failure>,
    /// The time at which the first test binary started.
    built: Option<Instant>,
}

/// Copies the output line by line, and counts its tests. Tests may print any bytes.
fn pass_on_and_count(mut from: impl BufRead, mut to: impl Write) -> anyhow::Result<Counted> {
    let mut counted = Counted::default();
    let mut failures = Failures::default();
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        if line.starts_with(b"running ") {
            counted.built.get_or_insert_with(Instant::now);
        }
        let text = String::from_utf8_lossy(&line);
        failures.take(&text);
        if let Some(tally) = Tally::of_line(&text) {
            counted.tally += tally;
        }
        line.clear();
    }
    counted.failures = failures.into_found();
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_passed_on_unchanged_and_counted() {
        let output = b"running 1 test\n\xff\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\nno end of line".as_slice();
        let mut seen = Vec::new();
        let counted = pass_on_and_count(output, &mut seen).unwrap();
        assert_eq!(seen, output);
        assert_eq!(counted.tally, Tally { passed: 1, failed: 0, ignored: 0 });
        assert!(counted.built.is_some());
    }

    #[test]
    fn failed_build_has_no_end_time() {
        let counted = pass_on_and_count(b"error: no such target\n".as_slice(), Vec::new()).unwrap();
        assert_eq!((counted.tally, counted.built), (Tally::default(), None));
    }
}
