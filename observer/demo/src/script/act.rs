//! The acts of a script.

use std::time::Duration;

use super::actor::{Actor, Role, name};
use super::options::{Options, quoted, resource_or_all, size};
use crate::FaultAnswer;
use crate::api::Resource;

/// An act, and the time when it is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The time since the start, or since the beginning of the round.
    pub(crate) at: Duration,
    pub(crate) act: Act,
    /// The act as the script has it, with single spaces.
    pub(crate) words: String,
}

/// How often an act is repeated, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repetition {
    pub(crate) every: Duration,
    pub(crate) lasting: Duration,
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
    /// The watch cache of a resource, or of all, is reset.
    Expire(Option<&'static Resource>),
    /// Every open watch ends without an error: once, or again and again.
    EndWatches(Option<Repetition>),
    /// The open watches of a resource, or of all, deliver nothing for this time, and then end.
    Deaf { resource: Option<&'static Resource>, lasting: Duration },
    /// Every request for resources gets this answer for this time.
    Answer { answer: FaultAnswer, lasting: Duration },
    /// Watches get no bookmarks for this time.
    NoBookmarks { lasting: Duration },
    /// Streaming lists get no end for this time.
    NoListEnd { lasting: Duration },
    /// Responses for resources are sent at this pace for this time.
    Slow { bytes_per_second: u64, lasting: Duration },
    /// The store becomes the saved one at once, without a restart.
    Rewind,
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
    /// Whether it is a fault: the API server or etcd behaves badly, and clients have to deal with it.
    pub(crate) const fn is_fault(&self) -> bool {
        match self {
            Self::Restart { .. }
            | Self::Expire(_)
            | Self::EndWatches(_)
            | Self::Deaf { .. }
            | Self::Answer { .. }
            | Self::NoBookmarks { .. }
            | Self::NoListEnd { .. }
            | Self::Slow { .. }
            | Self::Rewind
            | Self::Compact
            | Self::Restore { .. } => true,
            Self::Print(_) | Self::Start(_) | Self::Stop(_) | Self::Backup | Self::Wait => false,
        }
    }

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
            "end-watches" => {
                let mut options = Options::of(words)?;
                let repeated = match options.optional_period("every")? {
                    Some(every) => Some(Repetition { every, lasting: options.duration("for")? }),
                    None => None,
                };
                return options.end().map(|()| Self::EndWatches(repeated));
            }
            "deaf" => {
                let resource = resource_or_all(next("the resource")?)?;
                let lasting = lasting(words)?;
                return Ok(Self::Deaf { resource, lasting });
            }
            "answer" => {
                let answer = answer(next("the status code")?)?;
                let lasting = lasting(words)?;
                return Ok(Self::Answer { answer, lasting });
            }
            "slow" => {
                let bytes_per_second = size(next("the bytes per second")?)?;
                let lasting = lasting(words)?;
                return Ok(Self::Slow { bytes_per_second, lasting });
            }
            "no-bookmarks" => return Ok(Self::NoBookmarks { lasting: lasting(words)? }),
            "no-list-end" => return Ok(Self::NoListEnd { lasting: lasting(words)? }),
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
            "expire" => Self::Expire(resource_or_all(next("the resource")?)?),
            "compact" => Self::Compact,
            "backup" => Self::Backup,
            "rewind" => Self::Rewind,
            "wait" => Self::Wait,
            other => {
                return Err(format!(
                    "unknown action {}; allowed here: answer, backup, compact, deaf, end-watches, expire, no-bookmarks, no-list-end, print, \
                     restart, restore, rewind, slow, start, stop, wait",
                    quoted(other)
                ));
            }
        };
        Options::of(words)?.end()?;
        Ok(act)
    }
}

/// The only option of an act: how long it lasts.
fn lasting<'l>(words: impl Iterator<Item = &'l str>) -> Result<Duration, String> {
    let mut options = Options::of(words)?;
    let lasting = options.duration("for")?;
    options.end().map(|()| lasting)
}

/// The answer with a status code.
fn answer(code: &str) -> Result<FaultAnswer, String> {
    Ok(match code {
        "429" => FaultAnswer::TooManyRequests,
        "500" => FaultAnswer::InternalError,
        "503" => FaultAnswer::ServiceUnavailable,
        "504" => FaultAnswer::GatewayTimeout,
        other => return Err(format!("unknown answer {}; allowed here: 429, 500, 503, 504", quoted(other))),
    })
}
