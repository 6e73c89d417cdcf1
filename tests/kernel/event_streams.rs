//! Reduces event files to a form in which those of two taps can be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

/// The events of some processes in one run: in order for each stream of a connection, as a set for each client.
#[derive(Debug, Default)]
pub(crate) struct EventStreams {
    streams: BTreeMap<String, Vec<Value>>,
}

/// Fields that depend on the tap: times, and numbers that it assigns.
const OF_THE_TAP: [&str; 8] = ["at", "until", "last_event", "connection", "client_id", "reflector", "upstream", "process"];

impl EventStreams {
    /// Reads the events of the processes with these IDs.
    pub(crate) fn read(file: &Path, processes: &BTreeSet<u32>) -> Self {
        let text = fs::read_to_string(file).unwrap();
        // The last line may be incomplete.
        let events: Vec<Value> = text.split_inclusive('\n').filter_map(|line| serde_json::from_str(line).ok()).collect();
        let mut connections: BTreeMap<u64, String> = BTreeMap::new();
        let mut programs = BTreeSet::new();
        let mut of_process: BTreeMap<u64, usize> = BTreeMap::new();
        for event in events.iter().filter(|event| event["event"] == "connection-opened") {
            let (Some(connection), Some(pid)) = (event["connection"].as_u64(), event["process"]["pid"].as_u64()) else { continue };
            if processes.iter().any(|process| u64::from(*process) == pid) {
                let number = of_process.entry(pid).or_default();
                connections.insert(connection, format!("process {pid} connection {number}"));
                *number += 1;
            }
        }
        let connection = |event: &Value| connections.get(&event["connection"].as_u64()?).cloned();
        for event in &events {
            if let (Some(_), Some(program)) = (connection(event), event["client"]["program"].as_str()) {
                programs.insert(program.to_owned());
            }
        }
        let mut streams: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for event in &events {
            let place = match (connection(event), event["client"]["program"].as_str()) {
                (Some(connection), _) => match event["stream"].as_u64() {
                    Some(stream) => format!("{connection} stream {stream}"),
                    None => connection,
                },
                // Skip other processes with the same program name.
                (None, Some(program))
                    if event["connection"].is_null() && program.starts_with("player-") && programs.contains(program) =>
                {
                    format!("client {program}")
                }
                _ => continue,
            };
            streams.entry(place).or_default().push(comparable(event));
        }
        for (_, events) in streams.iter_mut().filter(|(place, _)| place.starts_with("client")) {
            events.sort_by_key(ToString::to_string);
        }
        Self { streams }
    }

    /// The number of reported requests.
    pub(crate) fn requests(&self) -> usize {
        self.events().filter(|event| event["event"] == "request").count()
    }

    /// The causes of all relists.
    pub(crate) fn causes(&self) -> BTreeSet<String> {
        let relists = self.events().filter(|event| event["event"] == "relist");
        relists.filter_map(|relist| Some(relist["cause"]["name"].as_str()?.to_owned())).collect()
    }

    /// The number of events of all ended watches.
    pub(crate) fn watch_events(&self) -> u64 {
        let ended = self.events().filter(|event| event["event"] == "watch-ended");
        ended.flat_map(|ended| ["added", "modified", "deleted"].map(|kind| ended["watch"][kind].as_u64().unwrap_or(0))).sum()
    }

    /// The lines that only one side has: `+` marks `self`, `-` marks `other`.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        let places: BTreeSet<&String> = self.streams.keys().chain(other.streams.keys()).collect();
        for place in places {
            let of = |streams: &Self| streams.streams.get(place).cloned().unwrap_or_default();
            let (ours, theirs) = (of(self), of(other));
            for number in 0..ours.len().max(theirs.len()) {
                let (our, their) = (ours.get(number), theirs.get(number));
                if our != their {
                    let line = |sign: char, event: Option<&Value>| event.map(|event| format!("{place} {sign} {event}"));
                    lines.extend(line('+', our).into_iter().chain(line('-', their)));
                }
            }
        }
        lines
    }

    fn events(&self) -> impl Iterator<Item = &Value> {
        self.streams.values().flatten()
    }
}

/// The event without fields that depend on the tap. Where ALPN chose no protocol, the proxy reports none; HTTP/1.1 is assumed.
fn comparable(event: &Value) -> Value {
    match event {
        Value::Object(members) => {
            let kept = members
                .iter()
                .filter(|(name, _)| !OF_THE_TAP.contains(&name.as_str()) && !name.ends_with("_us") && !name.ends_with("_at"));
            let with_protocol = |name: &str, value: &Value| {
                let is_unstated = name == "protocol" && value.is_null();
                if is_unstated { Value::from("http/1.1") } else { comparable(value) }
            };
            Value::Object(kept.map(|(name, value)| (name.clone(), with_protocol(name, value))).collect())
        }
        Value::Array(items) => items.iter().map(comparable).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => event.clone(),
    }
}
