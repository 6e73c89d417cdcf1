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

/// Maximum number of lines per second of observed time. More would scroll too fast to read, and slow the observer down.
const LINES_PER_SECOND: u64 = 200;

/// The verb of folded discovery: all its requests are gets.
const DISCOVERY: &str = "get";

/// Writes events line by line.
#[derive(Debug)]
pub struct LiveLines<W> {
    out: Printer<W>,
    colour: Colour,
    discovery: Discovery,
    pace: Pace,
    last_totals: Option<(Totals, Missed)>,
}

/// Counts the lines of the current second.
#[derive(Debug, Default)]
struct Pace {
    second: u64,
    lines: u64,
    left_out: u64,
}

impl<W: Write> LiveLines<W> {
    /// Writes lines to `out`, each in one write.
    pub fn new(out: Printer<W>, colour: Colour) -> Self {
        Self { out, colour, discovery: Discovery::default(), pace: Pace::default(), last_totals: None }
    }

    /// The stream that was written to.
    pub fn into_inner(self) -> W {
        self.out.into_inner()
    }

    /// Writes `12:00:01.204 list   …`.
    fn line(&mut self, line: &LiveLine) -> io::Result<()> {
        let LiveLine { at, tone, word, text } = line;
        if !self.pace.admits(*at) {
            return Ok(());
        }
        if let Some(left_out) = self.pace.take_left_out() {
            let time = time_of_day(*at);
            let left_out = counted(left_out, "line");
            self.out.print(&Printable::line(format_args!(
                "{time} …      {left_out} omitted here: too many in one second (the totals and --events include them)"
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

    /// Prints nothing if nothing has changed.
    fn totals(&mut self, at: Timestamp, totals: &Totals, missed: &Missed) -> io::Result<()> {
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

impl Pace {
    fn admits(&mut self, at: Timestamp) -> bool {
        let second = at.as_nanos() / 1_000_000_000;
        if second != self.second {
            (self.second, self.lines) = (second, 0);
        }
        self.lines += 1;
        let admitted = self.lines <= LINES_PER_SECOND;
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
