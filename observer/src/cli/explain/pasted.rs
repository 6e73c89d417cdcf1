//! `watchtap explain -`: lines of logs that were pasted or piped into stdin.

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use observer_core::logs::{FoundRecord, LogClock, LogRecords};
use observer_core::routing::ServerProfile;
use observer_core::time::Timestamp;

use crate::cli::read::INCOMPLETE;
use crate::input_file::InputFile;
use crate::log_files::{Line, Source};
use crate::printable::{Printable, print_message, stdout};
use crate::view::{Colour, ExplainFormat, ExplainedLine, ExplainedLines, counted, known_forms};

/// Maximum number of lines that are explained, or found not to be recognised. `watchtap read` is for logs.
const MOST_LINES: u64 = 500;

/// The lines so far.
struct Explaining<'p> {
    profile: &'p ServerProfile,
    format: ExplainFormat,
    colour: Colour,
    /// The number of the present line.
    line: u64,
    explained: u64,
    all: ExplainedLines,
    /// The text that is not printed yet.
    out: Printable,
}

/// Explains the lines on stdin, each as soon as it is complete.
pub(super) fn explain_stdin(profile: &ServerProfile, format: ExplainFormat) -> Result<ExitCode> {
    let file = InputFile::open(Path::new("-")).context("cannot read stdin")?;
    let mut source = Source::of(file)?;
    let mut records = LogRecords::of(present());
    let mut explaining = Explaining {
        profile,
        format,
        colour: Colour::for_stdout(),
        line: 0,
        explained: 0,
        all: ExplainedLines::default(),
        out: Printable::new(),
    };
    loop {
        let next = source.next()?;
        if explaining.is_full() && !matches!(next, Line::End) {
            explaining.all.is_cut = true;
            break;
        }
        let others = match next {
            Line::End => break,
            Line::TooLong => 1,
            Line::Read(line) => records.line(line, &mut |found| explaining.take(&found, 1)),
        };
        explaining.line += 1;
        explaining.miss(others);
        explaining.flush()?;
    }
    let others = records.finish(&mut |found| explaining.take(&found, 0));
    explaining.miss(others);
    explaining.end()
}

impl Explaining<'_> {
    /// Takes a record. `ahead` is 1 while the number of its line is not counted yet.
    fn take(&mut self, found: &FoundRecord, ahead: u64) {
        if self.is_full() {
            self.all.is_cut = true;
            return;
        }
        let Some(line) = ExplainedLine::of(found, self.line + ahead, self.profile) else {
            self.all.not_recognised += 1;
            self.note(format!("line {}   not recognised: a line of klog about something else", self.line + ahead));
            return;
        };
        self.explained += 1;
        match self.format {
            ExplainFormat::Json => self.all.lines.push(line),
            ExplainFormat::Text => {
                let text = line.text(self.colour);
                self.out.append(&text);
                self.out.end_line();
            }
        }
    }

    /// Notes lines of no known form; the last of them is the present one.
    fn miss(&mut self, lines: u64) {
        self.all.not_recognised += lines;
        match lines {
            0 => {}
            1 => self.note(format!("line {}   not recognised", self.line)),
            several => self.note(format!("{several} lines until line {}   not recognised", self.line)),
        }
    }

    fn note(&mut self, words: String) {
        if self.format == ExplainFormat::Text {
            self.out.push_line(words);
            self.out.end_line();
        }
    }

    const fn is_full(&self) -> bool {
        self.explained.saturating_add(self.all.not_recognised) >= MOST_LINES
    }

    fn flush(&mut self) -> Result<()> {
        Ok(stdout().print(&std::mem::take(&mut self.out))?)
    }

    fn end(mut self) -> Result<ExitCode> {
        if self.explained == 0 && self.all.not_recognised == 0 {
            bail!("stdin is empty: paste lines of a log into it, as in `pbpaste | watchtap explain -`");
        }
        if self.explained == 0 {
            bail!("no line is recognised; the known forms are {}", known_forms());
        }
        if self.format == ExplainFormat::Json {
            self.out = self.all.json()?;
        }
        self.flush()?;
        if self.all.not_recognised > 0 {
            let lines = counted(self.all.not_recognised, "line");
            print_message(format_args!("not recognised: {lines}; the known forms are {}", known_forms()));
        }
        if self.all.is_cut {
            print_message(format_args!("only {MOST_LINES} lines are explained; `watchtap read -` makes a report of a log"));
        }
        let is_complete = self.all.not_recognised == 0 && !self.all.is_cut;
        Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::from(INCOMPLETE) })
    }
}

/// The clock of lines that have just been copied.
fn present() -> LogClock {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    LogClock::until(Timestamp::from_nanos(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)), 0)
}
