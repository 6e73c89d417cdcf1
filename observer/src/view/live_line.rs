//! One event in words, on one line.

use std::fmt::Write as _;

use observer_core::http::Direction;
use observer_core::k8s::Verb;
use observer_core::observation::{ListenerState, UpstreamName};
use observer_core::observer::{Event, RequestRecord};
use observer_core::quantity::Amount;
use observer_core::time::Timestamp;

use super::client::program;
use super::colour::Tone;
use super::following;
use super::quantity::{bytes, counted, length, microseconds};
use super::verdict::{contradiction, detail, marked, served_tone};

/// The line of an event, without the form in which a view prints it.
#[derive(Clone, Debug)]
pub(super) struct LiveLine {
    /// When it happened.
    pub(super) at: Timestamp,
    /// How it stands out.
    pub(super) tone: Tone,
    /// Its kind, in one word.
    pub(super) word: &'static str,
    /// The rest.
    pub(super) text: String,
}

/// The line of an event: `relist mesh-agent/1.9 pods …`. `None` for events that live lines leave out.
pub fn live_line(event: &Event) -> Option<String> {
    LiveLine::of(event).map(|line| format!("{} {}", line.word, line.text))
}

impl LiveLine {
    /// A line about many events.
    pub(super) fn quiet(at: Timestamp, word: &'static str, text: String) -> Self {
        Self { at, tone: Tone::Quiet, word, text }
    }

    /// `None` if another line contains the event, or if it is about a connection.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let at = event.happened_at();
        let (tone, word, text) = match event {
            Event::Request { record } => return Some(Self::request(at, record)),
            Event::WatchOpened { record } => return Some(Self::watch_opened(at, record)),
            Event::WatchEnded { record, .. } => return Some(Self::watch_ended(at, record)),
            Event::Contradicted { client, verb, shape, verdict, because, .. } => {
                let verb = verb.map_or("?", Verb::as_str);
                let text = format!("{} {verb} {}, {}; {because}", program(client), shape, contradiction(verdict));
                (Tone::Bad, "wrong", text)
            }
            Event::Profile { upstream, profile, .. } => {
                (Tone::Plain, "server", format!("{}{}", of(upstream), profile.assumptions().join("; ")))
            }
            Event::Listener { upstream, state: ListenerState::Refusing, .. } => (
                Tone::Notable,
                "server",
                format!("{}the API server refuses connections; watchtap refuses its clients, too", of(upstream)),
            ),
            Event::Listener { upstream, state: ListenerState::Listening, .. } => {
                (Tone::Plain, "server", format!("{}watchtap's port accepts connections", of(upstream)))
            }
            Event::ConnectFailed { why, .. } => (Tone::Notable, "failed", format!("a client could not be connected: {why}")),
            Event::NotProbed { file, why, .. } => (Tone::Notable, "unprobed", format!("{file}: {why}")),
            Event::GoAway { connection, by: Direction::Response, .. } => {
                (Tone::Notable, "goaway", format!("from the API server on connection {connection}"))
            }
            Event::Relist { list } => (Tone::Notable, "relist", following::relist(list)),
            Event::Resume { resume } => (Tone::Plain, "resume", following::resume(resume)),
            Event::Stalled { stall } => (Tone::Bad, "stall", following::stalled(stall)),
            Event::TroubleBegan { trouble } => (Tone::Bad, "began", following::trouble(trouble)),
            Event::TroubleEnded { trouble } => (Tone::Notable, "ended", following::trouble_ended(trouble)),
            Event::StallEnded { stall } => (Tone::Notable, "stall", following::stall_ended(stall)),
            Event::Stuck { stuck } => (Tone::Bad, "stuck", following::stuck(stuck)),
            Event::StormBegan { record } => (Tone::Bad, "storm", following::storm_began(record)),
            Event::StormEnded { record } => (Tone::Notable, "storm", following::storm_ended(record)),
            Event::Upgraded { exchange, protocol, .. } => {
                let connection = exchange.connection;
                (Tone::Plain, "upgrade", format!("connection {connection} switched to {protocol}"))
            }
            Event::Missed { connection, bytes: missed, .. } => {
                (Tone::Bad, "missed", format!("{} on connection {connection} were forwarded and not observed", bytes(*missed)))
            }
            Event::Malformed { connection, offset, what, .. } => {
                (Tone::Bad, "missed", format!("malformed HTTP on connection {connection} at byte {offset}: {what}"))
            }
            Event::DecodingStopped { connection, .. } => {
                (Tone::Bad, "missed", format!("from now on, connection {connection} is forwarded and not observed"))
            }
            Event::DecoderFailed { connection, .. } => {
                (Tone::Bad, "missed", format!("decoding connection {connection} failed; its traffic continues. Please report it"))
            }
            Event::Fault { act, .. } => (Tone::Notable, "fault", act.clone()),
            Event::CaptureEnded { why, .. } => {
                (Tone::Bad, "missed", format!("stopped writing the capture: {why}; everything else continues"))
            }
            Event::Unrecorded { .. } => (Tone::Bad, "missed", "the capture has a gap before this: see the report".to_owned()),
            // Lists have their own lines.
            Event::InitialList { .. }
            | Event::RelistBegan { .. }
            | Event::ConnectionOpened { .. }
            | Event::ConnectionClosed { .. }
            | Event::GoAway { .. } => return None,
        };
        Some(Self { at, tone, word, text })
    }

    /// As [`Self::of`], without lines for events that are routine for a healthy client. Its lists have no lines then, except for
    /// the first one of each reflector.
    pub(super) fn notable(event: &Event) -> Option<Self> {
        match event {
            Event::InitialList { list } => {
                Some(Self { at: event.happened_at(), tone: Tone::Plain, word: "list", text: following::initial_list(list) })
            }
            Event::Request { .. }
            | Event::WatchOpened { .. }
            | Event::WatchEnded { .. }
            | Event::Resume { .. }
            | Event::Upgraded { .. } => None,
            Event::Contradicted { .. }
            | Event::Profile { .. }
            | Event::Listener { .. }
            | Event::ConnectFailed { .. }
            | Event::NotProbed { .. }
            | Event::GoAway { .. }
            | Event::RelistBegan { .. }
            | Event::Relist { .. }
            | Event::Stalled { .. }
            | Event::TroubleBegan { .. }
            | Event::TroubleEnded { .. }
            | Event::StallEnded { .. }
            | Event::Stuck { .. }
            | Event::StormBegan { .. }
            | Event::StormEnded { .. }
            | Event::Missed { .. }
            | Event::Malformed { .. }
            | Event::DecodingStopped { .. }
            | Event::DecoderFailed { .. }
            | Event::Fault { .. }
            | Event::CaptureEnded { .. }
            | Event::Unrecorded { .. }
            | Event::ConnectionOpened { .. }
            | Event::ConnectionClosed { .. } => Self::of(event),
        }
    }

    fn request(at: Timestamp, record: &RequestRecord) -> Self {
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
        Self { at, tone, word, text }
    }

    fn watch_opened(at: Timestamp, record: &RequestRecord) -> Self {
        let opened = record.first_byte_us.map_or_else(String::new, |opening| format!(" {}", microseconds(opening)));
        let text = format!("{} open{opened}{}", subject(record), served(record));
        Self { at, tone: Tone::Plain, word: "watch", text }
    }

    fn watch_ended(at: Timestamp, record: &RequestRecord) -> Self {
        let ending = record.ending().unwrap_or_default();
        let mut text = format!("{} after {}: {ending}", subject(record), length(at.since(record.at)));
        // A log has no events.
        if let Some(watch) = record.watch.as_ref().filter(|_| record.bytes != Amount::UNKNOWN) {
            let missed = if record.missed_bytes > 0 { "≥ " } else { "" };
            let (events, bookmarks) = (counted(watch.events(), "event"), counted(watch.bookmarks, "bookmark"));
            let _infallible = write!(text, "; {missed}{events}, {missed}{bookmarks}");
        }
        let broke =
            record.watch.as_ref().is_some_and(|watch| watch.error.is_some()) || record.status.is_some_and(|status| status >= 400);
        Self { at, tone: if broke { Tone::Notable } else { Tone::Plain }, word: "end", text }
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
