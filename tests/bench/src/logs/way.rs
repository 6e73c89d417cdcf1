//! The ways to read a log: watchtap, and what it is compared with.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

/// A program or a library that reads all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Way {
    /// `watchtap read FILE`: reading, joining, and the report.
    Watchtap,
    /// `serde_json::from_slice::<Value>` of each line, which is in memory already.
    SerdeJsonValue,
    /// `jq -c .verb FILE`.
    Jq,
}

/// The time of one pass.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Taken {
    pub(super) seconds: f64,
    /// Of all threads together.
    pub(super) cpu_seconds: f64,
}

impl Way {
    pub(super) const ALL: [Self; 3] = [Self::Watchtap, Self::SerdeJsonValue, Self::Jq];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Watchtap => "watchtap read",
            Self::SerdeJsonValue => "serde_json::Value",
            Self::Jq => "jq -c .verb",
        }
    }

    /// The number of threads that work.
    pub(super) const fn threads(self) -> u32 {
        match self {
            Self::Watchtap => 2,
            Self::SerdeJsonValue | Self::Jq => 1,
        }
    }

    /// Whether it can run here.
    pub(super) fn is_installed(self) -> bool {
        self != Self::Jq || Command::new("jq").arg("--version").output().is_ok_and(|output| output.status.success())
    }

    /// Reads the log in `file`, which has this text.
    pub(super) fn read(self, file: &Path, text: &[u8]) -> Result<Taken> {
        match self {
            Self::Watchtap => {
                let program = std::env::current_exe()?.with_file_name("watchtap");
                ensure!(program.is_file(), "{} is missing: `cargo xtask bench` builds it", program.display());
                of_process(Command::new(program).args(["read", "--format", "text"]).arg(file))
            }
            Self::SerdeJsonValue => {
                let begun = Instant::now();
                for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                    drop(black_box(serde_json::from_slice::<serde_json::Value>(black_box(line))?));
                }
                let seconds = begun.elapsed().as_secs_f64();
                Ok(Taken { seconds, cpu_seconds: seconds })
            }
            Self::Jq => of_process(Command::new("jq").args(["-c", ".verb"]).arg(file)),
        }
    }
}

fn of_process(command: &mut Command) -> Result<Taken> {
    let cpu = cpu_of_children()?;
    let begun = Instant::now();
    let output = command.stdout(Stdio::null()).stderr(Stdio::piped()).output().context("cannot start a program")?;
    let seconds = begun.elapsed().as_secs_f64();
    // Not all reflectors of these logs have room in the default memory. The report counts the others.
    let is_read = output.status.success() || output.status.code() == Some(3);
    ensure!(is_read, "{}: {}", command.get_program().display(), String::from_utf8_lossy(&output.stderr));
    Ok(Taken { seconds, cpu_seconds: cpu_of_children()? - cpu })
}

/// CPU time of all children that have ended, in seconds, to 10 ms (`proc_pid_stat(5)`: `cutime` and `cstime`).
fn cpu_of_children() -> Result<f64> {
    /// Ticks a second, on every architecture of Linux.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").context("CPU time needs Linux")?;
    // The name of the program may have spaces, and is in parentheses.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks: u32 = fields.split_whitespace().skip(13).take(2).filter_map(|ticks| ticks.parse::<u32>().ok()).sum();
    Ok(f64::from(ticks) / TICKS)
}
