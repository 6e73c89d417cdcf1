//! Parses the lines of a script into steps, and checks all limits.

use std::collections::BTreeSet;
use std::time::Duration;

use super::act::{Act, Step};
use super::actor::Role;
use super::error::ScriptError;
use super::options::duration;

/// Maximum number of lines of a script.
const MOST_LINES: usize = 500;
/// Maximum number of clients in a script.
const MOST_ACTORS: usize = 64;
/// Maximum number of reflectors of all clients together.
const MOST_REFLECTORS: usize = 256;

/// The script that plays each bad behaviour once.
const TORTURE: &str = include_str!("torture.script");

/// The script to play by default.
const STANDARD: &str = include_str!("standard.script");

/// The steps of the demo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Steps that run once.
    pub(crate) once: Vec<Step>,
    /// Steps that then repeat; empty for a script without `repeat`.
    pub(crate) round: Vec<Step>,
}

impl Script {
    /// Maximum size of a script, in bytes.
    pub const MOST_BYTES: usize = 64 * 1024;

    /// The text of the default script.
    pub const fn standard_text() -> &'static str {
        STANDARD
    }

    /// The default script, parsed.
    pub fn standard() -> Result<Self, ScriptError> {
        Self::parse("the standard script", STANDARD)
    }

    /// The script that plays each bad behaviour once, for a client of the user's.
    pub fn torture() -> Result<Self, ScriptError> {
        Self::parse("the script torture", TORTURE)
    }

    /// A script in which nothing happens, and which never ends.
    pub const fn quiet() -> Self {
        Self { once: Vec::new(), round: Vec::new() }
    }

    /// Whether it has a last line. A script with `repeat`, or without a line, does not end.
    pub const fn ends(&self) -> bool {
        self.round.is_empty() && !self.once.is_empty()
    }

    /// Parses a script; errors name it `file`.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScriptError> {
        let error = |line: usize, what: String| ScriptError { file: file.to_owned(), line, what };
        if text.len() > Self::MOST_BYTES {
            return Err(error(1, format!("the script has {} bytes; at most {} are allowed", text.len(), Self::MOST_BYTES)));
        }
        let mut reading = Reading::default();
        let mut last = 0;
        for (index, line) in text.lines().enumerate() {
            last = index + 1;
            if last > MOST_LINES {
                return Err(error(last, format!("the script is longer than {MOST_LINES} lines")));
            }
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                reading.line(line).map_err(|what| error(last, what))?;
            }
        }
        reading.end().map_err(|what| error(last.max(1), what))
    }
}

/// The lines parsed so far.
#[derive(Debug, Default)]
struct Reading {
    once: Vec<Step>,
    round: Option<Vec<Step>>,
    started: BTreeSet<String>,
    reflectors: usize,
    has_backup: bool,
}

impl Reading {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if line == "repeat" {
            if self.round.replace(Vec::new()).is_some() {
                return Err("repeat stands twice; what is behind the first is repeated to the end".to_owned());
            }
            return Ok(());
        }
        let (time, words) = line.split_once(char::is_whitespace).ok_or("a line is a time and an action, or repeat")?;
        let single_spaced = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let step = Step { at: duration(time)?, act: Act::parse(words.trim())?, words: single_spaced };
        self.check(&step.act)?;
        let steps = self.round.as_mut().unwrap_or(&mut self.once);
        if let Some(before) = steps.last().filter(|before| before.at > step.at) {
            return Err(format!("{time} is before {}, the time of the line above", humantime::format_duration(before.at)));
        }
        steps.push(step);
        Ok(())
    }

    /// Checks that an act is consistent with the acts before it.
    fn check(&mut self, act: &Act) -> Result<(), String> {
        match act {
            Act::Start(actor) => {
                self.started.insert(actor.name.clone());
                if self.started.len() > MOST_ACTORS {
                    return Err(format!("more than {MOST_ACTORS} clients"));
                }
                if let Role::Reflectors { resources, .. } = &actor.role {
                    self.reflectors += resources.len();
                }
                if self.reflectors > MOST_REFLECTORS {
                    return Err(format!("more than {MOST_REFLECTORS} reflectors"));
                }
            }
            Act::Stop(name) if !self.started.contains(name) => {
                return Err(format!("{name} is not there; only what was started above can be stopped"));
            }
            Act::Backup => self.has_backup = true,
            Act::Restore { .. } | Act::Rewind if !self.has_backup => {
                return Err("there is no backup; a backup has to stand above".to_owned());
            }
            Act::Print(_)
            | Act::Stop(_)
            | Act::Restart { .. }
            | Act::Expire(_)
            | Act::EndWatches(_)
            | Act::Deaf { .. }
            | Act::Answer { .. }
            | Act::NoBookmarks { .. }
            | Act::NoListEnd { .. }
            | Act::Slow { .. }
            | Act::Compact
            | Act::Restore { .. }
            | Act::Rewind
            | Act::Wait => {}
        }
        Ok(())
    }

    fn end(self) -> Result<Script, String> {
        /// Minimum duration of a round: a shorter one would turn the demo into a load test.
        const SHORTEST_ROUND: Duration = Duration::from_secs(1);
        let lasts = |round: &Vec<Step>| round.last().map_or(Duration::ZERO, |step| step.at);
        match self.round {
            Some(round) if lasts(&round) < SHORTEST_ROUND => {
                Err("a round takes a second at least; end it with a line such as \"60s wait\"".to_owned())
            }
            None if self.once.is_empty() => Err("nothing happens in this script".to_owned()),
            round => Ok(Script { once: self.once, round: round.unwrap_or_default() }),
        }
    }
}
