//! `watchtap probe --check`.

use std::process::ExitCode;

use anyhow::{Context, Result};

use super::output::Format;
use super::progress_line::ProgressLine;
use crate::printable::{print_error, stdout};
use crate::probe_check_result::{CheckProgress, ProbeCheck};
use crate::view::{Colour, probe_check_json, probe_check_text};

/// Reports what this machine allows a probe. Succeeds if a probe can run, even with limits.
pub(super) fn run(format: Format) -> ExitCode {
    let mut line = ProgressLine::default();
    let check = ProbeCheck::of_this_machine(&mut |progress| show(&mut line, progress));
    line.end();
    match print(&check, format) {
        Ok(()) if check.can_probe() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

fn show(line: &mut ProgressLine, progress: CheckProgress<'_>) {
    match progress {
        CheckProgress::Trial => line.show("loading and attaching the programs as a test"),
        CheckProgress::Program { index, of, name } => line.show(format_args!("{index}/{of}  {name}")),
    }
}

fn print(check: &ProbeCheck, format: Format) -> Result<()> {
    let text = match format {
        Format::Text => {
            let colour = Colour::for_stdout();
            probe_check_text(check, colour)
        }
        Format::Json => probe_check_json(check)?,
    };
    stdout().print(&text).context("cannot write the result")
}
