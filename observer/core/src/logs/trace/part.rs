//! One line of a block.

use std::time::Duration;

use super::super::audit::{MAX_ID, MAX_TEXT, MAX_URI};
use super::super::go_duration::go_duration;
use super::super::go_text::unquote;
use super::super::klog::{LogClock, day_and_month_name, local, zoned};
use super::super::text::cut;
use crate::redacted::Redacted;
use crate::time::Timestamp;

/// A line of a block. [`super::TraceCollector`] joins those with the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracePart {
    /// The number of the block, which is random.
    pub number: u64,
    pub(super) line: Line,
}

/// The kinds of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// `"NAME" FIELDS (START) (total time: D):`
    Start { name: String, fields: Facts, start: Option<Timestamp>, total: Duration, is_old: bool },
    /// `["NAME" FIELDS 12ms (TIME)`, a nested span. Its depth is that of the span around it.
    Span { name: String, fields: Facts, took: Duration, depth: usize },
    /// `---"MESSAGE" FIELDS 12ms (TIME)`, or up to 1.18 `[SINCE START] [DURATION] MESSAGE FIELDS`.
    Step { message: String, took: Duration, count: Option<u64>, depth: usize },
    /// `[TOTAL] [TOTAL] END`
    End,
}

/// The fields that are kept of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) url: Redacted<String>,
    pub(super) user_agent: String,
    pub(super) client: String,
    pub(super) audit_id: String,
    pub(super) key: String,
    pub(super) limit: Option<u64>,
    pub(super) resource_version: String,
}

/// Longest name of a span and longest message of a step, in bytes.
const MAX_NAME: usize = 256;
/// Maximum number of lines that are read of one text. A log shipper may have joined the lines of a block.
const MOST_LINES: usize = 1024;
/// Deepest nesting that is distinguished.
const DEEPEST: usize = 32;

/// Reads the lines of a block that are in one text. Empty if the text does not begin with `Trace[`.
pub(in crate::logs) fn parts(text: &str, clock: &LogClock) -> Vec<TracePart> {
    let Some((number, prefix)) = prefix(text) else { return Vec::new() };
    let lines = text.split(prefix).skip(1).take(MOST_LINES);
    // A space before the prefix is that of a joined line.
    lines.filter_map(|line| Some(TracePart { number, line: Line::read(line.trim_ascii_end(), clock)? })).collect()
}

/// The number of a block, and `Trace[NUMBER]: `.
fn prefix(text: &str) -> Option<(u64, &str)> {
    let (number, _) = text.strip_prefix("Trace[")?.split_once("]: ")?;
    let length = "Trace[".len() + number.len() + "]: ".len();
    Some((number.parse().ok()?, text.get(..length)?))
}

impl Line {
    fn read(line: &str, clock: &LogClock) -> Option<Self> {
        let inside = line.trim_start_matches(' ');
        let depth = (line.len() - inside.len()).min(DEEPEST);
        if let Some(summary) = inside.strip_prefix("---") {
            let (message, rest) = quoted(summary)?;
            let (fields, took) = summary_end(rest)?;
            return Some(Self::Step { message: cut(&message, MAX_NAME), took, count: count(fields), depth });
        }
        if inside.starts_with("[\"") {
            let (name, rest) = quoted(inside.get(1..)?)?;
            let (fields, took) = summary_end(rest)?;
            return Some(Self::Span { name: cut(&name, MAX_NAME), fields: Facts::read(fields), took, depth });
        }
        if inside.starts_with('"') {
            return Self::start(inside, clock);
        }
        // `[SINCE START] [DURATION] MESSAGE`
        let (_since_start, rest) = inside.strip_prefix('[')?.split_once("] [")?;
        let (took, message) = rest.split_once("] ")?;
        if message == "END" {
            return Some(Self::End);
        }
        let (words, count) = message.rsplit_once(" count:").unwrap_or((message, ""));
        Some(Self::Step { message: cut(words, MAX_NAME), took: go_duration(took)?, count: count.parse().ok(), depth: 0 })
    }

    fn start(text: &str, clock: &LogClock) -> Option<Self> {
        let (name, rest) = quoted(text)?;
        let (rest, total) = rest.rsplit_once(" (total time: ").or_else(|| rest.rsplit_once("(total time: "))?;
        let total = go_duration(total.strip_suffix(':').unwrap_or(total).strip_suffix(')')?)?;
        let (fields, start) = rest.strip_suffix(')')?.rsplit_once('(')?;
        let old = start.strip_prefix("started: ");
        let start = old.map_or_else(|| day_and_month_name(start, clock), |start| go_time(start, clock));
        let fields = Facts::read(fields.trim_ascii());
        Some(Self::Start { name: cut(&name, MAX_NAME), fields, start, total, is_old: old.is_some() })
    }
}

/// A quoted text, and the text after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let unquoted = unquote(text)?;
    Some((unquoted.text.into_owned(), unquoted.rest))
}

/// Reads ` FIELDS 12ms (TIME)` and the brackets that close spans: the fields, and the duration. The indentation shows the nesting, too.
fn summary_end(text: &str) -> Option<(&str, Duration)> {
    let (rest, _time) = text.trim_end_matches(']').rsplit_once(" (")?;
    let (fields, took) = rest.rsplit_once(' ')?;
    Some((fields.trim_ascii(), go_duration(took)?))
}

/// The field `count` of a step.
fn count(fields: &str) -> Option<u64> {
    pairs(fields).find(|(key, _)| *key == "count").and_then(|(_, value)| value.parse().ok())
}

/// Reads a time as Go prints it (`time.Time.String`): `2020-01-01 10:00:00.1 +0000 UTC m=+5.1`.
fn go_time(text: &str, clock: &LogClock) -> Option<Timestamp> {
    let mut words = text.split(' ');
    let (date, time) = (words.next()?, words.next()?);
    match words.next() {
        Some(zone) => zoned(&format!("{date}T{time}{zone}")),
        None => local(date, time, clock),
    }
}

impl Facts {
    /// The server writes the audit ID once, and before a key (kubernetes/apiserver `pkg/endpoints/handlers/trace_util.go` and
    /// `pkg/storage/etcd3/store.go`, v0.22 to v0.36). A client may write another one, in its `User-Agent` or as a namespace. The
    /// line counts as one without an ID then.
    fn read(text: &str) -> Self {
        let mut facts = Self::default();
        let (mut has_id, mut has_key, mut is_forged) = (false, false, false);
        for (key, value) in pairs(text) {
            match key {
                "url" => facts.url = Redacted(cut(value, MAX_URI)),
                "user-agent" => facts.user_agent = cut(value, MAX_TEXT),
                "client" => facts.client = cut(value, MAX_TEXT),
                "audit-id" => {
                    is_forged |= has_id || has_key;
                    has_id = true;
                    facts.audit_id = cut(value, MAX_ID);
                }
                "key" => {
                    has_key = true;
                    facts.key = cut(value, MAX_TEXT);
                }
                "limit" => facts.limit = value.parse().ok(),
                "resourceVersion" => facts.resource_version = cut(value, MAX_NAME),
                _other => {}
            }
        }
        if is_forged {
            facts.audit_id.clear();
        }
        facts
    }
}

/// Reads `key:value,key:value`. Values are not escaped, and may have commas, so only a known key ends a value.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (key, value) = rest.split_once(':')?;
        let mut commas = value.match_indices(',').map(|(comma, _)| comma);
        let end = commas.find(|comma| value.get(comma + 1..).is_some_and(begins_with_key));
        let (value, after) = end.map_or((value, ""), |end| value.split_at(end));
        rest = after.get(1..).unwrap_or_default();
        Some((key, value))
    })
}

/// Whether a text begins with a key of a span (kubernetes/apiserver `pkg/endpoints/handlers/trace_util.go`, `pkg/storage/cacher` and
/// `pkg/storage/etcd3/store.go`, 1.16.0 to v0.36.0).
fn begins_with_key(text: &str) -> bool {
    const KEYS: [&str; 36] = [
        "UID",
        "accept",
        "api-group",
        "api-version",
        "audit-id",
        "client",
        "configuration",
        "continue",
        "count",
        "encoder",
        "err",
        "error",
        "firstWrite",
        "group",
        "key",
        "len",
        "limit",
        "mediaType",
        "method",
        "name",
        "namespace",
        "operation",
        "protocol",
        "resource",
        "resource-version",
        "resourceVersion",
        "resourceVersionMatch",
        "scope",
        "size",
        "subresource",
        "type",
        "url",
        "user-agent",
        "verb",
        "webhook",
        "writer",
    ];
    let end = text.bytes().take(24).position(|byte| byte == b':');
    end.and_then(|end| text.get(..end)).is_some_and(|key| KEYS.binary_search(&key).is_ok())
}
