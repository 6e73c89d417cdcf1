//! Runs one fuzz target. Prints libFuzzer's progress at intervals, and its last lines after a failure.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::libfuzzer::Progress;
use super::target::Target;
use super::tools;
use crate::workspace;

/// Minimum time between two printed lines of progress.
const SELDOM: Duration = Duration::from_secs(10);

/// Maximum number of lines printed after a failure: enough for the panic's message and both stack traces.
const LINES_OF_A_FAILURE: usize = 120;

/// Time limit per input in seconds. A slower input counts as a failure.
const MOST_SECONDS: u32 = 10;

/// Maximum input length in bytes: long enough for a session, short enough for thousands per second.
const MOST_BYTES: u32 = 8192;

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) time: Duration,
    pub(super) last: Progress,
    pub(super) find: Option<String>,
}

/// Runs `target` for `time`, or until it fails on an input.
pub(super) fn run(target: &Target, time: Duration) -> anyhow::Result<Run> {
    for folder in [target.corpus(), target.finds()] {
        let folder = workspace::root().join(folder);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    eprintln!("== {} for {} s", target.name, time.as_secs());
    let begun = Instant::now();
    let mut fuzzer = tools::cargo_fuzz("run", target)
        .args([target.corpus(), target.seeds()])
        .arg("--")
        .args([
            format!("-max_total_time={}", time.as_secs()),
            format!("-artifact_prefix={}/", target.finds().display()),
            format!("-timeout={MOST_SECONDS}"),
            format!("-max_len={MOST_BYTES}"),
            String::from("-print_final_stats=1"),
        ])
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let output = fuzzer.stderr.take().context("libFuzzer's output is not piped")?;
    let watched = watch(BufReader::new(output))?;
    let status = fuzzer.wait()?;
    let time = begun.elapsed();
    let find = watched.last.find.clone();
    if !status.success() {
        eprint!("{}", watched.failure());
        anyhow::ensure!(find.is_some(), "{} ended without an input to blame: {status}", target.name);
    }
    Ok(Run { time, last: watched.last, find })
}

/// The parsed output of a run.
struct Watched {
    last: Progress,
    /// The last lines that are not progress reports.
    lines: VecDeque<String>,
}

/// Reads the output until it ends. The output may contain any bytes.
fn watch(mut output: impl BufRead) -> anyhow::Result<Watched> {
    let mut watched = Watched { last: Progress::default(), lines: VecDeque::new() };
    let mut shown = Instant::now();
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        line.clear();
        if !watched.last.line(&text) {
            watched.keep(text);
        } else if shown.elapsed() >= SELDOM {
            eprintln!("{text}");
            shown = Instant::now();
        }
    }
    Ok(watched)
}

impl Watched {
    fn keep(&mut self, line: String) {
        if self.lines.len() == LINES_OF_A_FAILURE {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    fn failure(&self) -> String {
        self.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_is_kept_and_progress_is_not() {
        let output =
            b"INFO: Seed: 1\n#1\tINITED cov: 7 ft: 9 corp: 1/1b rss: 30Mb\nthread panicked: \xff\nTest unit written to a/b\n";
        let watched = watch(output.as_slice()).unwrap();
        assert_eq!(watched.failure(), "INFO: Seed: 1\nthread panicked: \u{fffd}\nTest unit written to a/b\n");
        assert_eq!((watched.last.coverage, watched.last.find.as_deref()), (7, Some("a/b")));
    }

    #[test]
    fn long_failure_output_keeps_its_end() {
        let output = "frame\n".repeat(1000) + "the last one\n";
        let failure = watch(output.as_bytes()).unwrap().failure();
        assert_eq!(failure.lines().count(), LINES_OF_A_FAILURE);
        assert_eq!(failure.lines().last(), Some("the last one"));
    }
}
