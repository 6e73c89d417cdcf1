//! One line per event, as `watchtap run` prints them.

use std::io::{self, Write};

use observer_core::observer::{Event, Missed, Totals};
use observer_core::time::Timestamp;

use super::colour::Colour;
use super::discovery::{Discovery, is_discovery};
use super::etcd;
use super::live_line::LiveLine;
use super::missed::{not_seen, not_understood};
use super::quantity::{bytes, counted, time_of_day};
use crate::pipeline::EventSink;
use crate::printable::{Printable, Printer};

/// Which events have a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineChoice {
    /// All that live lines have a form for. More than 200 lines in a second would scroll too fast to read, and slow the observer
    /// down.
    #[default]
    All,
    /// Those that are not routine for a healthy client, for a log that is kept: some hundred requests per second add no line. A
    /// client in a relist loop adds a line for each relist, so there are at most 60 in a minute.
    Notable,
}

/// The verb of folded discovery: all its requests are gets.
const DISCOVERY: &str = "get";

/// Writes events line by line.
#[derive(Debug)]
pub struct LiveLines<W> {
    out: Printer<W>,
    colour: Colour,
    choice: LineChoice,
    discovery: Discovery,
    pace: Pace,
    last_totals: Option<(Totals, Missed)>,
}

/// Counts the lines of the current period.
#[derive(Debug, Default)]
struct Pace {
    period: u64,
    lines: u64,
    left_out: u64,
}

impl<W: Write> LiveLines<W> {
    /// Writes lines to `out`, each in one write.
    pub fn new(out: Printer<W>, colour: Colour) -> Self {
        Self {
            out,
            colour,
            choice: LineChoice::default(),
            discovery: Discovery::default(),
            pace: Pace::default(),
            last_totals: None,
        }
    }

    /// Chooses which events have a line.
    #[must_use]
    pub fn only(self, choice: LineChoice) -> Self {
        Self { choice, ..self }
    }

    /// The stream that was written to.
    pub fn into_inner(self) -> W {
        self.out.into_inner()
    }

    /// Writes `12:00:01.204 list   …`.
    fn line(&mut self, line: &LiveLine) -> io::Result<()> {
        let LiveLine { at, tone, word, text } = line;
        if !self.pace.admits(*at, self.choice) {
            return Ok(());
        }
        if let Some(left_out) = self.pace.take_left_out() {
            let time = time_of_day(*at);
            let left_out = counted(left_out, "line");
            self.out.print(&Printable::line(format_args!(
                "{time} …      {left_out} omitted here: too many in one {} (the totals and --events include them)",
                self.choice.period_name()
            )))?;
        }
        let mut line = Printable::of(format_args!("{} ", time_of_day(*at)));
        line.append(&self.colour.paint(*tone, format_args!("{word:<6} ")));
        line.push_line(text);
        self.out.print(&line)
    }

    /// Writes the line for the discovery requests folded until now.
    fn discovery(&mut self, at: Timestamp) -> io::Result<()> {
        match self.discovery.folded() {
            Some(text) => self.line(&LiveLine::quiet(at, DISCOVERY, text)),
            None => Ok(()),
        }
    }
}

impl<W: Write + Send> EventSink for LiveLines<W> {
    fn name(&self) -> &'static str {
        "the live lines"
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        if self.choice == LineChoice::Notable {
            return LiveLine::notable(event).map_or(Ok(()), |line| self.line(&line));
        }
        if let Event::Request { record } = event
            && is_discovery(record)
        {
            return match self.discovery.add(record) {
                Some(former) => self.line(&LiveLine::quiet(event.happened_at(), DISCOVERY, former)),
                None => Ok(()),
            };
        }
        let Some(line) = LiveLine::of(event) else { return Ok(()) };
        if let Event::Request { .. } | Event::WatchOpened { .. } | Event::WatchEnded { .. } = event {
            self.discovery(line.at)?;
        }
        self.line(&line)
    }

    /// Prints nothing if nothing has changed. A log that is kept has no totals, because they change twice a minute.
    fn totals(&mut self, at: Timestamp, totals: &Totals, missed: &Missed) -> io::Result<()> {
        if self.choice == LineChoice::Notable {
            return Ok(());
        }
        self.discovery(at)?;
        let now = (totals.clone(), missed.clone());
        if totals.requests == 0 || self.last_totals.as_ref() == Some(&now) {
            return Ok(());
        }
        self.last_totals = Some(now);
        let text = [
            counted(totals.requests, "request"),
            etcd::lists(totals),
            format!("{} open", counted(totals.open, "request")),
            bytes(totals.response_bytes),
            format!("not observed: {}", or_nothing(&not_seen(missed))),
            format!("unparsed: {}", or_nothing(&not_understood(missed))),
        ];
        self.line(&LiveLine::quiet(at, "totals", text.join(" · ")))
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(at) = self.discovery.is_due() {
            self.discovery(at)?;
        }
        self.out.flush()
    }
}

impl LineChoice {
    /// The length of a period in seconds of observed time, and the maximum number of lines in it.
    const fn pace(self) -> (u64, u64) {
        match self {
            Self::All => (1, 200),
            Self::Notable => (60, 60),
        }
    }

    const fn period_name(self) -> &'static str {
        match self {
            Self::All => "second",
            Self::Notable => "minute",
        }
    }
}

impl Pace {
    fn admits(&mut self, at: Timestamp, choice: LineChoice) -> bool {
        let (seconds, most) = choice.pace();
        let period = at.as_nanos() / (seconds * 1_000_000_000);
        if period != self.period {
            (self.period, self.lines) = (period, 0);
        }
        self.lines += 1;
        let admitted = self.lines <= most;
        self.left_out += u64::from(!admitted);
        admitted
    }

    fn take_left_out(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.left_out)).filter(|left_out| *left_out > 0)
    }
}

fn or_nothing(words: &[String]) -> String {
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}
