//! Acts of a script: what happens at a time.

use std::time::Duration;

use super::actor::{Actor, Role, name};
use super::options::{Options, quoted, resource};
use crate::demo::api::Resource;

/// An act, and when it is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::demo) struct Step {
    /// From the start, or from the beginning of the round.
    pub(in crate::demo) at: Duration,
    pub(in crate::demo) act: Act,
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::demo) enum Act {
    /// The reader is told something.
    Say(String),
    /// A client comes; one of the same name is ended before.
    Start(Actor),
    /// A client is ended.
    Stop(String),
    /// The API server is away for so long.
    Restart { down_for: Duration },
    /// The watch cache of a resource begins anew.
    Expire(&'static Resource),
    /// All watches end.
    EndWatches,
    /// The store forgets its history.
    Compact,
    /// The store is saved.
    Backup,
    /// The API server restarts with the store as it was saved.
    Restore { down_for: Duration },
    /// Nothing; the round ends here, or a pause.
    Wait,
}

impl Act {
    /// Reads what stands behind the time.
    pub(super) fn parse(words: &str) -> Result<Self, String> {
        let (word, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let rest = rest.trim();
        if word == "say" {
            return if rest.is_empty() { Err("say nothing? text is missing".to_owned()) } else { Ok(Self::Say(rest.to_owned())) };
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
                    "unknown act {}; allowed here: backup, compact, end-watches, expire, restart, restore, say, start, stop, wait",
                    quoted(other)
                ));
            }
        };
        Options::of(words)?.end()?;
        Ok(act)
    }
}
