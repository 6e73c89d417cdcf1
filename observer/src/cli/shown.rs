//! How a run is displayed: on a page, in lines, or not at all.

use clap::Args;
use jiff::tz::TimeZone;

use crate::pipeline::{EventSink, Outputs, Snapshots};
use crate::printable::{print_message, stderr, stdout};
use crate::terminal::{RunningPage, is_for_a_page};
use crate::view::{Colour, LiveLines, Page};

/// The display that the flags ask for.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Shown {
    /// Print live lines, one per event, instead of the page
    #[arg(long, conflicts_with = "quiet")]
    lines: bool,

    /// No page and no live lines; the introduction, messages and the report are still printed
    #[arg(long, short)]
    quiet: bool,
}

impl Shown {
    /// Connects the display to `outputs`. Returns the snapshots for a page, if there is to be one. With `stdout_is_taken`, stdout
    /// is used by a program or by the report. `mute` lists the findings to suppress.
    pub(super) fn prepare(self, outputs: &mut Outputs, stdout_is_taken: bool, mute: &[String]) -> Option<Snapshots> {
        if self.quiet {
            return None;
        }
        if !self.lines && !stdout_is_taken && is_for_a_page() {
            let (snapshots, publisher) = Snapshots::begin(mute.to_vec());
            outputs.publish_by(publisher);
            return Some(snapshots);
        }
        outputs.add(live_lines(stdout_is_taken));
        None
    }
}

fn live_lines(stdout_is_taken: bool) -> Box<dyn EventSink> {
    if stdout_is_taken {
        Box::new(LiveLines::new(stderr(), Colour::for_stderr()))
    } else {
        Box::new(LiveLines::new(stdout(), Colour::for_stdout()))
    }
}

/// Opens the page. If the terminal cannot show it, the run continues without it.
pub(super) fn open_page(name: &str, guidance: Vec<String>, snapshots: Snapshots) -> Option<RunningPage> {
    RunningPage::start(page(name, guidance), snapshots)
        .inspect_err(|error| print_message(format!("the page cannot be shown ({error}); --lines prints events as lines")))
        .ok()
}

/// A page for standard output.
pub(super) fn page(name: &str, guidance: Vec<String>) -> Page {
    let page = Page::new(Snapshots::nothing(), name, guidance, Colour::for_stdout());
    match TimeZone::try_system() {
        Ok(zone) if !zone.is_unknown() => page.with_local_zone(zone),
        Ok(_) | Err(_) => page,
    }
}
