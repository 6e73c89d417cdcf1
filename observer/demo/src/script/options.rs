//! Parses the options of a line: `name=value`, each at most once.

use std::time::Duration;

use crate::api::{Resource, resources};

/// Minimum period: a shorter one would turn the demo into a load test.
const SHORTEST_PERIOD: Duration = Duration::from_millis(100);

/// The options of a line that have not been read yet. Options that remain at the end of the line are an error.
#[derive(Debug)]
pub(super) struct Options<'l> {
    given: Vec<(&'l str, &'l str)>,
    known: Vec<&'static str>,
}

impl<'l> Options<'l> {
    pub(super) fn of(words: impl Iterator<Item = &'l str>) -> Result<Self, String> {
        let mut given: Vec<(&str, &str)> = Vec::new();
        for word in words {
            let (name, value) =
                word.split_once('=').ok_or_else(|| format!("{} is no option; an option is name=value", quoted(word)))?;
            if given.iter().any(|(other, _)| *other == name) {
                return Err(format!("{} is given twice", quoted(name)));
            }
            given.push((name, value));
        }
        Ok(Self { given, known: Vec::new() })
    }

    /// The value of an optional option.
    pub(super) fn optional(&mut self, name: &'static str) -> Option<&'l str> {
        self.known.push(name);
        let at = self.given.iter().position(|(given, _)| *given == name)?;
        Some(self.given.remove(at).1)
    }

    pub(super) fn required(&mut self, name: &'static str) -> Result<&'l str, String> {
        self.optional(name).ok_or_else(|| format!("{name}= is missing"))
    }

    /// A required duration; at most an hour.
    pub(super) fn duration(&mut self, name: &'static str) -> Result<Duration, String> {
        duration(self.required(name)?)
    }

    /// A required time between two repetitions.
    pub(super) fn period(&mut self, name: &'static str) -> Result<Duration, String> {
        let period = self.duration(name)?;
        if period < SHORTEST_PERIOD {
            return Err(format!("{name}= is at least {}", humantime::format_duration(SHORTEST_PERIOD)));
        }
        Ok(period)
    }

    /// An optional time between two repetitions.
    pub(super) fn optional_period(&mut self, name: &'static str) -> Result<Option<Duration>, String> {
        if self.given.iter().any(|(given, _)| *given == name) {
            return self.period(name).map(Some);
        }
        self.known.push(name);
        Ok(None)
    }

    /// A required number from 1 to `most`.
    pub(super) fn number(&mut self, name: &'static str, most: u32) -> Result<u32, String> {
        let value = self.required(name)?;
        let number = value.parse().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| format!("{name}={} is no number from 1 to {most}", quoted(value)))
    }

    /// A required resource of the demo, by its plural name.
    pub(super) fn resource(&mut self, name: &'static str) -> Result<&'static Resource, String> {
        resource(self.required(name)?)
    }

    /// Ends the line; refuses options that were not taken.
    pub(super) fn end(self) -> Result<(), String> {
        let Some((name, _)) = self.given.first() else { return Ok(()) };
        let allowed = if self.known.is_empty() { "none".to_owned() } else { self.known.join(", ") };
        Err(format!("unknown option {}; allowed here: {allowed}", quoted(name)))
    }
}

/// Quotes a word of the script for an error message. Long words are cut, in case the file is not a script.
pub(super) fn quoted(word: &str) -> String {
    const MOST: usize = 24;
    let shown: String = word.chars().take(MOST).collect();
    let more = if shown.len() < word.len() { "…" } else { "" };
    format!("{shown:?}{more}")
}

/// Parses a time such as `1m30s` or `400ms`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    /// Maximum time in a script.
    const LONGEST: Duration = Duration::from_hours(1);
    let duration =
        humantime::parse_duration(text).map_err(|_not_one| format!("{} is no time; a time is 400ms, 5s or 1m30s", quoted(text)))?;
    if duration > LONGEST { Err(format!("{text} is longer than an hour")) } else { Ok(duration) }
}

/// Parses a number of bytes such as `500B`, `64kB` or `2MB`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "B" => Some(1),
        "kB" => Some(1_000),
        "MB" => Some(1_000_000),
        _ => None,
    };
    let bytes = factor.and_then(|factor| number.parse::<u64>().ok()?.checked_mul(factor)).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| format!("{} is no number of bytes; it is 500B, 64kB or 2MB", quoted(text)))
}

/// The resource with this plural name; `None` for `all`.
pub(super) fn resource_or_all(name: &str) -> Result<Option<&'static Resource>, String> {
    if name == "all" { Ok(None) } else { resource(name).map(Some) }
}

/// The resource with this plural name.
pub(super) fn resource(name: &str) -> Result<&'static Resource, String> {
    resources().iter().find(|resource| resource.name == name).ok_or_else(|| {
        let known: Vec<&str> = resources().iter().map(|resource| resource.name).collect();
        format!("unknown resource {}; allowed here: {}", quoted(name), known.join(", "))
    })
}
