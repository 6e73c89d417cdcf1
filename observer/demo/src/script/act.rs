//! The acts of a script.

use std::time::Duration;

use super::actor::{Actor, Role, name};
use super::options::{Options, quoted, resource};
use crate::api::Resource;

/// An act, and the time when it is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The time since the start, or since the beginning of the round.
    pub(crate) at: Duration,
    pub(crate) act: Act,
}

/// An action of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Prints a message for the reader.
    Print(String),
    /// Starts a client, after ending one of the same name.
    Start(Actor),
    /// Ends a client at once.
    Stop(String),
    /// The API server restarts, and is down for this time.
    Restart { down_for: Duration },
    /// The watch cache of a resource is reset.
    Expire(&'static Resource),
    /// Every open watch ends without an error.
    EndWatches,
    /// The store drops its history.
    Compact,
    /// The store is saved.
    Backup,
    /// The API server restarts with the saved store.
    Restore { down_for: Duration },
    /// No action: marks the end of the round, or a pause.
    Wait,
}

impl Act {
    /// Parses the part after the time.
    pub(super) fn parse(words: &str) -> Result<Self, String> {
        let (word, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let rest = rest.trim();
        if word == "print" {
            return if rest.is_empty() { Err("print needs a text".to_owned()) } else { Ok(Self::Print(rest.to_owned())) };
        }
        let mut words = rest.split_whitespace();
        let mut next = |what: &str| words.next().ok_or_else(|| format!("{what} is missing"));
        let act = match word {
            "start" => {
                let (kind, name) = (next("the kind of client")?, name(next("the client's name")?)?);
                return Ok(Self::Start(Actor { name, role: Role::parse(kind, Options::of(words)?)? }));
            }
            "restart" => {
                let mut options = Options::of(words)?;
                let down_for = options.duration("for")?;
                return options.end().map(|()| Self::Restart { down_for });
            }
            "restore" => {
                let mut options = Options::of(words)?;
                let down_for = options.duration("for")?;
                return options.end().map(|()| Self::Restore { down_for });
            }
            "stop" => Self::Stop(name(next("the client's name")?)?),
            "expire" => Self::Expire(resource(next("the resource")?)?),
            "end-watches" => Self::EndWatches,
            "compact" => Self::Compact,
            "backup" => Self::Backup,
            "wait" => Self::Wait,
            other => {
                return Err(format!(
                    "unknown act {}; allowed here: backup, compact, end-watches, expire, print, restart, restore, start, stop, wait",
                    quoted(other)
                ));
            }
        };
        Options::of(words)?.end()?;
        Ok(act)
    }
}
