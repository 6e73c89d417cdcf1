//! One line per event, as `watchtap run` prints them.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use observer_core::http::Direction;
use observer_core::k8s::Verb;
use observer_core::observation::{ListenerState, UpstreamName};
use observer_core::observer::{Event, Missed, RequestRecord, Totals};
use observer_core::time::Timestamp;

use super::client::program;
use super::colour::{Colour, Tone};
use super::discovery::{Discovery, is_discovery};
use super::missed::{not_seen, not_understood};
use super::quantity::{bytes, counted, length, microseconds, time_of_day};
use super::verdict::{contradiction, detail, marked, served_tone};
use super::{etcd, following};
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
    fn line(&mut self, at: Timestamp, tone: Tone, word: &str, rest: &str) -> io::Result<()> {
        if !self.pace.admits(at) {
            return Ok(());
        }
        if let Some(left_out) = self.pace.take_left_out() {
            let time = time_of_day(at);
            let left_out = counted(left_out, "line");
            self.out.print(&Printable::line(format_args!(
                "{time} …      {left_out} omitted here: too many in one second (the totals and --events include them)"
            )))?;
        }
        let mut line = Printable::of(format_args!("{} ", time_of_day(at)));
        line.append(&self.colour.paint(tone, format_args!("{word:<6} ")));
        line.push_line(rest);
        self.out.print(&line)
    }

    fn request(&mut self, record: &RequestRecord) -> io::Result<()> {
        let at = ended_at(record);
        if is_discovery(record) {
            return match self.discovery.add(record) {
                Some(former) => self.line(at, Tone::Quiet, DISCOVERY, &former),
                None => Ok(()),
            };
        }
        self.discovery(at)?;
        let verdict = record.verdict.as_ref();
        let failed = record.status.is_none_or(|status| status >= 400);
        let tone = if failed { Tone::Notable } else { served_tone(verdict) };
        let word = record.verb.map_or("?", Verb::as_str);
        let mut text = subject(record);
        text.push_str(" → ");
        if failed {
            text.push_str(&failure(record));
        } else if record.verb == Some(Verb::List) {
            let _infallible = write!(text, "{} {}", items(record), bytes(record.bytes));
        } else {
            text.push_str(&bytes(record.bytes));
        }
        if let Some(total) = record.total_us {
            let _infallible = write!(text, " {}", microseconds(total));
        }
        text.push_str(&served(record));
        self.line(at, tone, word, &text)
    }

    fn watch_opened(&mut self, record: &RequestRecord) -> io::Result<()> {
        let at = after(record.at, record.first_byte_us);
        self.discovery(at)?;
        let opened = record.first_byte_us.map_or_else(String::new, |opening| format!(" {}", microseconds(opening)));
        let text = format!("{} open{opened}{}", subject(record), served(record));
        self.line(at, Tone::Plain, "watch", &text)
    }

    fn watch_ended(&mut self, at: Timestamp, record: &RequestRecord) -> io::Result<()> {
        self.discovery(at)?;
        let ending = record.ending().unwrap_or_default();
        let mut text = format!("{} after {}: {ending}", subject(record), length(at.since(record.at)));
        if let Some(watch) = &record.watch {
            let missed = if record.missed_bytes > 0 { "≥ " } else { "" };
            let (events, bookmarks) = (counted(watch.events(), "event"), counted(watch.bookmarks, "bookmark"));
            let _infallible = write!(text, "; {missed}{events}, {missed}{bookmarks}");
        }
        let broke =
            record.watch.as_ref().is_some_and(|watch| watch.error.is_some()) || record.status.is_some_and(|status| status >= 400);
        self.line(at, if broke { Tone::Notable } else { Tone::Plain }, "end", &text)
    }

    /// Writes the line for the discovery requests folded until now.
    fn discovery(&mut self, at: Timestamp) -> io::Result<()> {
        match self.discovery.folded() {
            Some(text) => self.line(at, Tone::Quiet, DISCOVERY, &text),
            None => Ok(()),
        }
    }
}

impl<W: Write + Send> EventSink for LiveLines<W> {
    fn name(&self) -> &'static str {
        "the live lines"
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Request { record } => self.request(record),
            Event::WatchOpened { record } => self.watch_opened(record),
            Event::WatchEnded { ended_at, record } => self.watch_ended(*ended_at, record),
            Event::Contradicted { at, client, verb, shape, verdict, because, .. } => {
                let verb = verb.map_or("?", Verb::as_str);
                let text = format!("{} {verb} {}, {}; {because}", program(client), shape, contradiction(verdict));
                self.line(*at, Tone::Bad, "wrong", &text)
            }
            Event::Profile { at, upstream, profile } => {
                self.line(*at, Tone::Plain, "server", &format!("{}{}", of(upstream), profile.assumptions().join("; ")))
            }
            Event::Listener { at, upstream, state: ListenerState::Refusing } => self.line(
                *at,
                Tone::Notable,
                "server",
                &format!("{}the API server refuses connections; watchtap refuses its clients, too", of(upstream)),
            ),
            Event::Listener { at, upstream, state: ListenerState::Listening } => {
                self.line(*at, Tone::Plain, "server", &format!("{}watchtap's port accepts connections", of(upstream)))
            }
            Event::ConnectFailed { at, why } => {
                self.line(*at, Tone::Notable, "failed", &format!("a client could not be connected: {why}"))
            }
            Event::NotProbed { at, file, why } => self.line(*at, Tone::Notable, "unprobed", &format!("{file}: {why}")),
            Event::GoAway { at, connection, by: Direction::Response, .. } => {
                self.line(*at, Tone::Notable, "goaway", &format!("from the API server on connection {connection}"))
            }
            Event::Relist { list } => self.line(list.ended_at, Tone::Notable, "relist", &following::relist(list)),
            Event::Resume { resume } => self.line(resume.at, Tone::Plain, "resume", &following::resume(resume)),
            Event::Stalled { stall } => self.line(stall.at, Tone::Bad, "stall", &following::stalled(stall)),
            Event::TroubleBegan { trouble } => self.line(trouble.at, Tone::Bad, "began", &following::trouble(trouble)),
            Event::TroubleEnded { trouble } => self.line(trouble.at, Tone::Notable, "ended", &following::trouble_ended(trouble)),
            Event::StallEnded { stall } => self.line(stall.at, Tone::Notable, "stall", &following::stall_ended(stall)),
            Event::Stuck { stuck } => self.line(stuck.at, Tone::Bad, "stuck", &following::stuck(stuck)),
            Event::StormBegan { record } => self.line(record.named, Tone::Bad, "storm", &following::storm_began(record)),
            Event::StormEnded { record } => {
                self.line(record.ended.unwrap_or(record.last), Tone::Notable, "storm", &following::storm_ended(record))
            }
            Event::Upgraded { at, exchange, protocol } => {
                let connection = exchange.connection;
                self.line(*at, Tone::Plain, "upgrade", &format!("connection {connection} switched to {protocol}"))
            }
            Event::Missed { at, connection, bytes: missed, .. } => self.line(
                *at,
                Tone::Bad,
                "missed",
                &format!("{} on connection {connection} were forwarded and not observed", bytes(*missed)),
            ),
            Event::Malformed { at, connection, offset, what, .. } => {
                self.line(*at, Tone::Bad, "missed", &format!("malformed HTTP on connection {connection} at byte {offset}: {what}"))
            }
            Event::DecodingStopped { at, connection, .. } => {
                self.line(*at, Tone::Bad, "missed", &format!("from now on, connection {connection} is forwarded and not observed"))
            }
            Event::DecoderFailed { at, connection } => self.line(
                *at,
                Tone::Bad,
                "missed",
                &format!("decoding connection {connection} failed; its traffic continues. Please report it"),
            ),
            Event::Fault { at, act, .. } => self.line(*at, Tone::Notable, "fault", act),
            Event::CaptureEnded { at, why } => {
                self.line(*at, Tone::Bad, "missed", &format!("stopped writing the capture: {why}; everything else continues"))
            }
            Event::Unrecorded { at, .. } => {
                self.line(*at, Tone::Bad, "missed", "the capture has a gap before this: see the report")
            }
            // Lists have their own lines.
            Event::InitialList { .. }
            | Event::RelistBegan { .. }
            | Event::ConnectionOpened { .. }
            | Event::ConnectionClosed { .. }
            | Event::GoAway { .. } => Ok(()),
        }
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
        self.line(at, Tone::Quiet, "totals", &text.join(" · "))
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

/// The client and its request: `my-controller/0.3 pods all namespaces RV=0`.
fn subject(record: &RequestRecord) -> String {
    let mut words = vec![program(&record.client), record.shape.resource.clone()];
    if let Some(scope) = &record.shape.scope {
        words.push(if record.name.is_empty() {
            scope.to_string()
        } else {
            format!("{}{}", own_prefix(&scope.to_string()), record.name)
        });
    }
    words.extend(options(record));
    words.join(" ")
}

/// The prefix of a name, such as `default/`; empty for objects without a namespace.
fn own_prefix(scope: &str) -> &str {
    if scope.ends_with('/') { scope } else { "" }
}

fn options(record: &RequestRecord) -> Option<String> {
    use observer_core::k8s::ResourceVersion;
    let options = &record.shape.options;
    let text = match (record.list_options.resource_version, options.strip_prefix("RV=N")) {
        (ResourceVersion::At(revision), Some(rest)) => format!("RV={revision}{rest}"),
        _ => options.clone(),
    };
    Some(text).filter(|text| !text.is_empty())
}

/// `1,704 objects`; a lower bound if bytes were missed, unknown if the body was not understood.
fn items(record: &RequestRecord) -> String {
    match (&record.not_read, record.missed_bytes) {
        (Some(_), _) => "? objects".to_owned(),
        (None, 0) => counted(record.items, "object"),
        (None, _) => format!("≥ {}", counted(record.items, "object")),
    }
}

fn failure(record: &RequestRecord) -> String {
    match record.status {
        Some(status) => format!("{status} {}", record.reason).trim_end().to_owned(),
        None => record.ending().unwrap_or_else(|| "no answer".to_owned()),
    }
}

/// `  ~ cache  list-rv0`, and the details of the verdict.
fn served(record: &RequestRecord) -> String {
    let Some(verdict) = &record.verdict else { return String::new() };
    let more = detail(verdict).map_or_else(String::new, |detail| format!(" ({detail})"));
    format!("  {}  {}{more}", marked(Some(verdict.certainty), &verdict.served_from), verdict.rule)
}

/// `HOST:PORT: `; empty for a server without a name.
fn of(upstream: &UpstreamName) -> String {
    if upstream.is_empty() { String::new() } else { format!("{}: ", upstream.0) }
}

fn or_nothing(words: &[String]) -> String {
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

fn ended_at(record: &RequestRecord) -> Timestamp {
    after(record.at, record.total_us)
}

fn after(at: Timestamp, microseconds: Option<u64>) -> Timestamp {
    at.plus(Duration::from_micros(microseconds.unwrap_or_default()))
}
