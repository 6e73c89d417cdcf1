//! The list of runs that can be attached.

use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use super::output::{ReportFormat, printed};
use crate::attach::{Folders, Found};
use crate::error_chain;
use crate::printable::{Printable, json, print_message, stderr, stdout};

/// Schema of the list as JSON.
const SCHEMA: &str = "watchtap.attach/v1";

/// The runs, in the order of their process IDs.
#[derive(Debug, Serialize)]
pub(super) struct AttachList {
    schema: &'static str,
    runs: Vec<Row>,
}

/// One run.
#[derive(Debug, Serialize)]
struct Row {
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    subcommand: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
    /// When it started, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    api_servers: Vec<String>,
    socket: String,
    /// Why it cannot be attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl AttachList {
    /// The runs that exist now.
    pub(super) fn now(folders: &Folders) -> Self {
        Self::of(&folders.find())
    }

    pub(super) fn of(found: &[Found]) -> Self {
        Self { schema: SCHEMA, runs: found.iter().map(Row::of).collect() }
    }

    /// Prints the list to stdout.
    pub(super) fn print(&self, format: ReportFormat) -> Result<ExitCode> {
        let text = match format {
            ReportFormat::Json => json(self)?,
            // The flags refuse the latter.
            ReportFormat::Text | ReportFormat::Markdown => self.text(),
        };
        let mut out = stdout();
        Ok(printed(out.print(&text).and_then(|()| out.flush())))
    }

    /// Prints the list to stderr, because the user has to choose.
    pub(super) fn print_choice(&self) -> Result<()> {
        print_message("several runs can be attached; choose one with `watchtap attach PID`");
        Ok(stderr().print(&self.text())?)
    }

    fn text(&self) -> Printable {
        if self.runs.is_empty() {
            return Printable::words("no run of yours can be attached\n");
        }
        let heading = ["PID", "COMMAND", "SINCE", "API SERVER"].map(str::to_owned);
        let rows: Vec<[String; 4]> = [heading].into_iter().chain(self.runs.iter().map(Row::cells)).collect();
        let width = |column: usize| {
            let of_row = |row: &[String; 4]| row.get(column).map_or(0, |cell| cell.chars().count());
            rows.iter().map(of_row).max().unwrap_or(0)
        };
        let widths = [width(0), width(1), width(2)];
        let mut text = Printable::new();
        for [pid, command, since, servers] in &rows {
            let [one, two, three] = widths;
            text.push(format_args!("{pid:>one$}  {command:two$}  {since:three$}  {servers}"));
            text.trim_end();
            text.end_line();
        }
        text
    }
}

impl Row {
    fn of(found: &Found) -> Self {
        let Found { pid, socket, about } = found;
        let socket = socket.display().to_string();
        match about {
            Ok(about) => Self {
                pid: *pid,
                subcommand: Some(about.subcommand.clone()),
                command: about.command.clone(),
                since: Some(about.since.clone()),
                api_servers: about.api_servers.clone(),
                socket,
                problem: None,
            },
            Err(error) => Self {
                pid: *pid,
                subcommand: None,
                command: Vec::new(),
                since: None,
                api_servers: Vec::new(),
                socket,
                problem: Some(error_chain::in_words(error)),
            },
        }
    }

    fn cells(&self) -> [String; 4] {
        let dash = || "-".to_owned();
        let command = self.subcommand.iter().chain(&self.command).map(String::as_str).collect::<Vec<_>>().join(" ");
        let command = self.problem.clone().unwrap_or(command);
        let servers = if self.api_servers.is_empty() { dash() } else { self.api_servers.join(", ") };
        [self.pid.to_string(), command, self.since.clone().unwrap_or_else(dash), servers]
    }
}
