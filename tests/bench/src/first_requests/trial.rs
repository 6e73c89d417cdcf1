//! Runs new programs under a probe, and finds the first request of each that the probe reports.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use observer_demo::DemoServer;

use super::go_client;
use super::kubectl;
use super::new_program::Original;
use crate::probe_process;

/// The kind of the new programs, and the time of their first request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    /// The client in Go asks so many milliseconds after its start.
    Go { wait: u32 },
    /// kubectl asks when it has read its files.
    Kubectl,
}

/// The place of a trial: the server, a private folder, and the number of programs made so far.
pub(super) struct Stage<'a> {
    pub(super) server: &'a DemoServer,
    pub(super) folder: &'a Path,
    pub(super) copies: u32,
}

impl Stage<'_> {
    /// Starts a probe, then runs this many new programs, one after the other. Returns the number of the first request seen of each
    /// program, from 0; `None` if none was seen.
    pub(super) fn run(&mut self, original: &mut Original, asking: Asking, programs: u32) -> Result<Vec<Option<u32>>> {
        let events = self.folder.join("events.jsonl");
        // A probe appends to a file that exists.
        fs::remove_file(&events).ok();
        let copies: Vec<_> = (0..programs)
            .map(|_| {
                self.copies += 1;
                Ok((self.copies, original.copy(self.folder, self.copies)?))
            })
            .collect::<Result<_>>()?;
        let of_events = ["--events", events.to_str().context("the folder has no name in UTF-8")?];
        let mut probe = probe_process::start(self.server.address().port(), &of_events, self.folder)?;
        for (number, program) in &copies {
            match asking {
                Asking::Go { wait } => go_client::ask(program.path(), self.server, &format!("new-{number}"), wait)?,
                Asking::Kubectl => kubectl::get(program.path(), self.folder, &format!("new-{number}-0"))?,
            }
        }
        probe.stop()?;
        let events = fs::read_to_string(&events).context("the probe wrote no events")?;
        Ok(copies.iter().map(|(number, _)| first_seen(&events, *number)).collect())
    }
}

/// The first request of a program in lines of events.
fn first_seen(events: &str, program: u32) -> Option<u32> {
    let name = format!("\"new-{program}-");
    events.split(name.as_str()).skip(1).filter_map(|rest| rest.split(['-', '"']).next()?.parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::first_seen;

    #[test]
    fn first_request_is_that_with_the_lowest_number() {
        let events = "{\"namespace\":\"new-1-3\"}\n{\"namespace\":\"new-1-2-900\"}\n{\"namespace\":\"new-11-0-800\"}\n";
        assert_eq!([1, 11, 2].map(|program| first_seen(events, program)), [Some(2), Some(0), None]);
    }
}
