//! `watchtap probe --check`.

use std::process::ExitCode;

use anyhow::{Context, Result};

use super::output::{Format, ReportFormat};
use super::progress_line::ProgressLine;
use crate::printable::{print_error, print_message, stdout};
use crate::probe_check_result::{CheckProgress, ProbeCheck};
use crate::view::{Colour, probe_check_json, probe_check_text};

/// Exit code of clap for arguments that do not fit together.
const USAGE: u8 = 2;

/// Reports what this machine allows a probe. Succeeds if a probe can run, even with limits.
pub(super) fn run(format: ReportFormat) -> ExitCode {
    let format = match format {
        ReportFormat::Text => Format::Text,
        ReportFormat::Json => Format::Json,
        ReportFormat::Markdown => {
            print_message("--check prints text or JSON, not Markdown");
            return ExitCode::from(USAGE);
        }
    };
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
