//! The facts about a run that attached processes are shown, beside its snapshots.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use jiff::{Timestamp, Unit};
use observer_core::observer::Snapshot;

use super::protocol::{About, ReportForm, Terminal};
use super::zone;
use crate::injected_fault::{self, Component};
use crate::pipeline::Snapshots;
use crate::printable::Printable;
use crate::view::{Colour, Page, Run, report_json, report_markdown, report_text};

/// Maximum number of bytes of each text in [`About`].
const LONGEST: usize = 1024;
/// Maximum number of texts in [`About`].
const MOST: usize = 64;

/// A run, for the processes that are attached to it.
pub(crate) struct ServedRun {
    /// The subcommand that runs.
    pub(crate) subcommand: &'static str,
    /// The client's command and its arguments, without credentials; empty if there is none.
    pub(crate) command: Vec<String>,
    /// The name of the run on the page.
    pub(crate) name: String,
    /// Instructions for connecting clients, for the page.
    pub(crate) guidance: Vec<String>,
    /// The names of the API servers.
    pub(crate) api_servers: Vec<String>,
    /// The lines of the report if no client has connected.
    pub(crate) silence: Vec<String>,
    /// Returns the notes of the report so far.
    pub(crate) notes: Box<dyn Fn() -> Vec<String> + Send + Sync>,
}

impl ServedRun {
    pub(super) fn about(&self, since: Timestamp) -> About {
        let since = since.round(Unit::Second).unwrap_or(since).to_string();
        let (command, api_servers) = (bounded(&self.command), bounded(&self.api_servers));
        About { pid: std::process::id(), subcommand: self.subcommand.to_owned(), command, since, api_servers }
    }

    /// The page for a terminal.
    pub(super) fn page(&self, terminal: &Terminal) -> Page {
        let colour = colour(terminal.coloured);
        let page = Page::new(Snapshots::nothing(), &self.name, self.guidance.clone(), colour).for_another_process();
        match terminal.zone.as_deref().and_then(zone::of_text) {
            Some(zone) => page.with_local_zone(zone),
            None => page,
        }
    }

    /// The report so far. An internal error ends only this request.
    pub(super) fn report(&self, form: ReportForm, snapshot: &Snapshot) -> Result<Printable, &'static str> {
        let made = catch_unwind(AssertUnwindSafe(|| self.text(form, snapshot)));
        made.ok().and_then(Result::ok).ok_or("the report could not be created because of an internal error; please report it")
    }

    fn text(&self, form: ReportForm, snapshot: &Snapshot) -> io::Result<Printable> {
        injected_fault::inject(Component::Report, snapshot);
        let run = Run {
            subcommand: self.subcommand,
            command: self.command.clone(),
            exit_code: None,
            silence: self.silence.clone(),
            budget: None,
            log: None,
            notes: (self.notes)(),
        };
        Ok(match form {
            ReportForm::Text { coloured } => report_text(&run, snapshot, colour(coloured)),
            ReportForm::Json => report_json(&run, snapshot)?,
            ReportForm::Markdown => report_markdown(&run, snapshot),
        })
    }
}

impl fmt::Debug for ServedRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServedRun").field("subcommand", &self.subcommand).field("name", &self.name).finish_non_exhaustive()
    }
}

const fn colour(is_on: bool) -> Colour {
    if is_on { Colour::On } else { Colour::Off }
}

/// The first texts, each up to the limit. Arguments of a command may be long.
fn bounded(texts: &[String]) -> Vec<String> {
    texts.iter().take(MOST).map(|text| text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default().to_owned()).collect()
}
