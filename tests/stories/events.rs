//! Reads the lines of `--events` while watchtap runs.

use anyhow::{Context, Result};
use serde_json::Value;

/// The events so far; a partly written last line is left for the next read.
#[derive(Clone, Debug)]
pub(crate) struct Events(Vec<Value>);

impl Events {
    pub(crate) fn of_lines(text: &str) -> Result<Self> {
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let events: Result<Vec<Value>> = whole.map(|line| serde_json::from_str(line).context("an event is JSON")).collect();
        Ok(Self(events?))
    }

    /// All events of this kind.
    pub(crate) fn all<'t>(&'t self, event: &'t str) -> impl Iterator<Item = &'t Value> {
        self.0.iter().filter(move |line| line["event"] == event)
    }

    /// All events of this kind for a program.
    pub(crate) fn of<'t>(&'t self, program: &'t str, event: &'t str) -> impl Iterator<Item = &'t Value> {
        self.all(event).filter(move |line| line["client"]["program"] == program)
    }

    /// The number of events of this kind for a program.
    pub(crate) fn count(&self, program: &str, event: &str) -> usize {
        self.of(program, event).count()
    }

    /// The only event of this kind for a program.
    pub(crate) fn one<'t>(&'t self, program: &'t str, event: &'t str) -> Result<&'t Value> {
        let [one] = self.of(program, event).collect::<Vec<_>>()[..] else {
            anyhow::bail!("not one {event} of {program}:\n{}", self.summary())
        };
        Ok(one)
    }

    /// One line per event, without the fields that all events share.
    pub(crate) fn summary(&self) -> String {
        let summary = |line: &Value| {
            let (event, client) = (&line["event"], &line["client"]["program"]);
            format!("{event} {client} {} {} {}", line["cause"], line["verb"], line["list_options"]["resource_version"])
        };
        self.0.iter().map(summary).collect::<Vec<_>>().join("\n")
    }
}
