//! How a run is displayed: on a page, in lines, or not at all.

use clap::{Args, ValueEnum};
use jiff::tz::TimeZone;

use crate::pipeline::{EventSink, Outputs, Snapshots};
use crate::printable::{print_message, stderr, stdout};
use crate::terminal::{OwnPage, RunningPage, is_for_a_page};
use crate::view::{Colour, LineChoice, LiveLines, Page};

/// The display that the flags ask for.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Shown {
    /// Print live lines, one per event, instead of the page. With `notable` (the default with --in-cluster), print no line for
    /// requests and watches as such, only for relists, storms, troubles, losses, and the first list of each reflector
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    #[arg(conflicts_with = "quiet")]
    lines: Option<LinesFlag>,

    /// No page and no live lines; the introduction, messages and the report are still printed
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LinesFlag {
    /// Each event
    All,
    /// Relists, storms, troubles, losses
    Notable,
}

impl Shown {
    /// The same, for output that becomes a log: no page, and without a flag only notable lines.
    pub(super) fn for_a_log(self) -> Self {
        Self { lines: self.lines.or((!self.quiet).then_some(LinesFlag::Notable)), ..self }
    }

    /// Connects the display to `outputs`. Returns the snapshots for a page, if there is to be one. With `stdout_is_taken`, stdout
    /// is used by a program or by the report. `mute` lists the findings to suppress.
    pub(super) fn prepare(self, outputs: &mut Outputs, stdout_is_taken: bool, mute: &[String]) -> Option<Snapshots> {
        if self.quiet {
            return None;
        }
        if self.lines.is_none() && !stdout_is_taken && is_for_a_page() {
            return Some(outputs.snapshots(mute).subscribe());
        }
        let choice = match self.lines {
            Some(LinesFlag::Notable) => LineChoice::Notable,
            Some(LinesFlag::All) | None => LineChoice::All,
        };
        outputs.add(live_lines(stdout_is_taken, choice));
        None
    }
}

fn live_lines(stdout_is_taken: bool, choice: LineChoice) -> Box<dyn EventSink> {
    if stdout_is_taken {
        Box::new(LiveLines::new(stderr(), Colour::for_stderr()).only(choice))
    } else {
        Box::new(LiveLines::new(stdout(), Colour::for_stdout()).only(choice))
    }
}

/// Opens the page. If the terminal cannot show it, the run continues without it.
pub(super) fn open_page(name: &str, guidance: Vec<String>, snapshots: Snapshots) -> Option<RunningPage> {
    RunningPage::start(OwnPage::new(page(name, guidance), snapshots))
        .inspect_err(|error| print_message(format!("the page cannot be shown ({error}); --lines prints events as lines")))
        .ok()
}

/// A page for standard output.
pub(super) fn page(name: &str, guidance: Vec<String>) -> Page {
    let page = Page::new(Snapshots::nothing(), name, guidance, Colour::for_stdout());
    match local_zone() {
        Some(zone) => page.with_local_zone(zone),
        None => page,
    }
}

/// The time zone of this machine; `None` if it is unknown.
pub(super) fn local_zone() -> Option<TimeZone> {
    TimeZone::try_system().ok().filter(|zone| !zone.is_unknown())
}
