//! How a run is shown while it goes on: on a page, in lines, or not at all.

use std::sync::Arc;

use clap::Args;

use super::output::say;
use crate::observing::{Latest, Outputs};
use crate::printable::{stderr, stdout};
use crate::terminal::{RunningPage, is_for_a_page};
use crate::view::{Colour, EventSink, LiveLines, Page};

/// What the person wants to see.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Shown {
    /// Live lines, one for each thing that happens, also where a terminal has room for the page
    #[arg(long, conflicts_with = "quiet")]
    lines: bool,

    /// No page and no live lines: only what --events and --report say
    #[arg(long, short)]
    quiet: bool,
}

impl Shown {
    /// Lets `outputs` tell what is to be shown; where it is a page that shows it, that is where the page finds it. `stdout_is_taken` says that
    /// stdout belongs to a program or to the report, `mute` which findings are not.
    pub(super) fn prepare(self, outputs: &mut Outputs, stdout_is_taken: bool, mute: &[String]) -> Option<Arc<Latest>> {
        if self.quiet {
            return None;
        }
        if !self.lines && !stdout_is_taken && is_for_a_page() {
            let (latest, publisher) = Latest::begin(mute.to_vec());
            outputs.publish_by(publisher);
            return Some(latest);
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

/// Opens the page. A terminal that cannot show it does not end the run.
pub(super) fn open_page(name: &str, guidance: Vec<String>, latest: Arc<Latest>) -> Option<RunningPage> {
    let colour = Colour::for_stdout();
    let page = Page::new(Latest::nothing(), name, guidance, colour);
    RunningPage::start(page, latest)
        .inspect_err(|error| say(format!("the page cannot be shown ({error}); --lines prints what happens")))
        .ok()
}
