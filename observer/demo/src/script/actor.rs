//! The clients of a script: their names and roles.

use std::time::Duration;

use super::options::{Options, quoted, resource};
use crate::api::Resource;
use crate::client_go::ClientGo;

/// Maximum number of reflectors of one process.
const MOST_REFLECTORS: usize = 16;

/// Maximum size of a writer's objects, in KiB.
const LARGEST_KIB: u32 = 256;

/// A client, with a connection of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Actor {
    /// Name and version, the beginning of its `User-Agent`.
    pub(crate) name: String,
    pub(crate) role: Role,
}

/// The behaviour of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Reflectors of a client-go release, one per resource.
    Reflectors { client_go: ClientGo, resources: Vec<&'static Resource> },
    /// A watcher of kube-rs.
    Watcher { resource: &'static Resource },
    /// A controller of kube-rs.
    Controller { resource: &'static Resource },
    /// Replaces the deployment controller.
    Rollouts,
    /// Lists repeatedly, without a watch.
    Poller { resource: &'static Resource, every: Duration, from_cache: bool },
    /// Lists repeatedly, in pages.
    Pager { resource: &'static Resource, every: Duration, page: u32 },
    /// Changes a pod and a config map each time.
    Changer { every: Duration },
    /// Writes a large config map each time.
    Writer { every: Duration, kib: u32 },
    /// Opens a watch and never reads from it.
    SlowReader { resource: &'static Resource },
}

impl Role {
    /// Parses the part after the name.
    pub(super) fn parse(kind: &str, mut options: Options<'_>) -> Result<Self, String> {
        let role = match kind {
            "reflectors" => Self::Reflectors {
                client_go: client_go(options.required("client-go")?)?,
                resources: several(options.required("watches")?)?,
            },
            "watcher" => Self::Watcher { resource: options.resource("watches")? },
            "controller" => Self::Controller { resource: options.resource("watches")? },
            "rollouts" => Self::Rollouts,
            "poller" => Self::Poller {
                resource: options.resource("lists")?,
                every: options.period("every")?,
                from_cache: match options.optional("resourceVersion") {
                    None => false,
                    Some("0") => true,
                    Some(other) => {
                        return Err(format!("resourceVersion={} is not 0, which is all that is allowed here", quoted(other)));
                    }
                },
            },
            "pager" => Self::Pager {
                resource: options.resource("lists")?,
                every: options.period("every")?,
                page: options.number("page", 500)?,
            },
            "changer" => Self::Changer { every: options.period("every")? },
            "writer" => Self::Writer { every: options.period("every")?, kib: options.number("kib", LARGEST_KIB)? },
            "slow-reader" => Self::SlowReader { resource: options.resource("watches")? },
            other => {
                return Err(format!(
                    "unknown kind of client {}; allowed here: changer, controller, pager, poller, reflectors, rollouts, \
                     slow-reader, watcher, writer",
                    quoted(other)
                ));
            }
        };
        options.end()?;
        Ok(role)
    }
}

/// The name of a client, if it is valid in a `User-Agent`.
pub(super) fn name(word: &str) -> Result<String, String> {
    const LONGEST: usize = 64;
    let fits =
        (1..=LONGEST).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
    if fits {
        Ok(word.to_owned())
    } else {
        Err(format!("{} is no name; a name is name/version, such as mesh-agent/1.9", quoted(word)))
    }
}

fn client_go(word: &str) -> Result<ClientGo, String> {
    ClientGo::ALL.into_iter().find(|release| release.as_str() == word).ok_or_else(|| {
        let known: Vec<&str> = ClientGo::ALL.iter().map(|release| release.as_str()).collect();
        format!("unknown release of client-go {}; allowed here: {}", quoted(word), known.join(", "))
    })
}

fn several(words: &str) -> Result<Vec<&'static Resource>, String> {
    let resources: Vec<&'static Resource> = words.split(',').map(resource).collect::<Result<_, _>>()?;
    if resources.len() > MOST_REFLECTORS {
        return Err(format!("{} reflectors of one client; at most {MOST_REFLECTORS} are allowed", resources.len()));
    }
    Ok(resources)
}
