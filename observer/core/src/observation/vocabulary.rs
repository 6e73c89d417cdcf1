//! The identifiers and values that observations consist of, such as connections, processes and ends.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::cgroup_owner::CgroupOwner;
use crate::http::{Direction, StreamId};
use crate::k8s::{Container, ResourceVersion, Status};
use crate::routing::ServerVersion;
use crate::wire::{ListMeta, ObjectRef, WatchFrame};

/// Maximum length of an explanation or a file name, in bytes.
pub const WORDS: usize = 4096;

/// A connection between a client and the API server. The tap numbers connections from 1, in the order in which they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConnectionId(pub u64);

impl fmt::Display for ConnectionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Name of an API server as users know it: `HOST:PORT`, with the path in front of its API if there is one. Empty for a single API
/// server without a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UpstreamName(pub String);

impl UpstreamName {
    /// Maximum length of a name, in bytes.
    pub const MAX_LENGTH: usize = 1024;

    /// The name, cut at [`Self::MAX_LENGTH`].
    pub fn of(mut name: String) -> Self {
        name.truncate(name.floor_char_boundary(Self::MAX_LENGTH));
        Self(name)
    }

    /// Whether it has no name.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A process on the machine of the tap.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Process {
    /// Its ID, which the kernel may reuse once the process has exited.
    pub pid: u32,
    /// Start time in clock ticks since boot (`starttime` of proc(5)). Together with `pid` it identifies one process, even after the
    /// kernel reused the `pid`.
    pub started: u64,
    /// Its name (`comm` of proc(5)), at most 15 bytes.
    pub name: String,
    /// The container that it is in; `None` unless its cgroup shows a container in a pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Box<Container>>,
    /// The systemd unit that it is in; `None` if it is in a container, or if its cgroup shows no unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl Process {
    /// A process whose owner is unknown.
    pub const fn new(pid: u32, started: u64, name: String) -> Self {
        Self { pid, started, name, container: None, unit: None }
    }

    /// The process, as one that the owner of its cgroup has.
    #[must_use]
    pub fn owned_by(self, owner: Option<CgroupOwner>) -> Self {
        match owner {
            Some(CgroupOwner::Container(container)) => Self { container: Some(Box::new(container)), unit: None, ..self },
            Some(CgroupOwner::Unit(unit)) => Self { container: None, unit: Some(unit), ..self },
            None => Self { container: None, unit: None, ..self },
        }
    }
}

/// A client in a log, whose requests are known without their bodies, bytes and connections. All requests of one client count as those of one
/// connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LoggedClient {
    /// Its address, as the API server logged it; empty if it is unknown.
    pub address: String,
}

/// Requests of a tap, and of the logs of the same API server, by whether both have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JoinedRequests {
    /// Requests of the tap that are joined with one in the logs.
    pub joined: u64,
    /// Requests of the tap whose audit ID no record in the logs had when they ended.
    pub without_event: u64,
    /// Requests of the tap without an audit ID: their response did not come, lacked it, or was not decoded.
    pub without_id: u64,
    /// Requests of the tap whose audit ID is also that of another request.
    pub ambiguous: u64,
    /// Requests in the logs, of the time of the run, that the tap did not see.
    pub only_logged: u64,
    /// Requests that were not compared, because there was no room.
    pub given_up: u64,
}

/// Identifies a request and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExchangeId {
    /// Connection that carries the exchange.
    pub connection: ConnectionId,
    /// Stream on that connection.
    pub stream: StreamId,
}

/// Byte counts of a connection's plaintext, by direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plaintext {
    /// From the client.
    pub request: u64,
    /// From the API server.
    pub response: u64,
}

impl Plaintext {
    /// The count of one direction.
    pub const fn of(&mut self, direction: Direction) -> &mut u64 {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }
}

impl AddAssign for Plaintext {
    fn add_assign(&mut self, more: Self) {
        self.request = self.request.saturating_add(more.request);
        self.response = self.response.saturating_add(more.response);
    }
}

/// Whether a tap's listener takes connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListenerState {
    /// It accepts connections.
    Listening,
    /// It refuses connections, because the API server does.
    Refusing,
}

/// How one side ended its half of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndManner {
    /// TLS `close_notify` (and then FIN).
    CloseNotify,
    /// FIN without `close_notify`.
    Fin,
    /// RST, or a network path that failed.
    Reset,
    /// Bytes that are not TLS, or a fatal alert.
    BrokenTls,
    /// watchtap ended both halves, before either side did.
    ByWatchtap,
}

/// The side that ended its half of a connection, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ConnectionEnd {
    /// `Request` when the client ended it, `Response` when the server did.
    pub direction: Direction,
    /// How it ended the half.
    pub manner: EndManner,
}

/// A decoded part of a response body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// Media type of the body, if its head does not state it.
    MediaType(String),
    /// `kind` of the document.
    Kind(String),
    /// A list's metadata.
    List(ListMeta),
    /// Items of a list, in order. Batch boundaries have no meaning.
    Items(Vec<ObjectRef>),
    /// A single object.
    Object(ObjectRef),
    /// Events of a watch, in order. Batch boundaries have no meaning.
    Events(Vec<WatchFrame>),
    /// A `Status`, such as that of a refusal.
    Status(Box<Status>),
    /// The server's version, which the client asked for.
    Version(ServerVersion),
}

impl Body {
    /// The newest revision that it shows, of a list, an item, an object or an event. `asked` is the revision that the request
    /// named. A watch may ask for a revision that the server does not have, because etcd was restored. Events up to this revision,
    /// such as bookmarks that repeat it, show nothing.
    pub fn newest_revision(&self, asked: ResourceVersion) -> Option<u64> {
        let number = |text: &String| ResourceVersion::number(text);
        match self {
            Self::List(meta) => number(&meta.resource_version),
            Self::Items(items) => items.iter().filter_map(|item| number(&item.resource_version)).max(),
            Self::Events(events) => {
                let newest = events.iter().filter_map(|event| number(&event.object.resource_version)).max();
                newest.filter(|newest| Some(*newest) > asked.revision())
            }
            Self::Object(object) => number(&object.resource_version),
            Self::MediaType(_) | Self::Kind(_) | Self::Status(_) | Self::Version(_) => None,
        }
    }
}

/// Why a body is not understood.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BodyNotRead {
    /// A media type that is not decoded.
    MediaType(String),
    /// A content coding that is not decoded.
    ContentCoding(String),
    /// Invalid for its media type, from this offset on.
    Malformed {
        /// Offset after content coding, in bytes.
        at: u64,
        /// The error, in words.
        what: String,
    },
}

impl BodyNotRead {
    /// Maximum length of a media type that is kept, in bytes.
    pub const MAX_MEDIA_TYPE: usize = 128;
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExchangeEnd {
    /// The response is complete.
    Complete,
    /// `RST_STREAM`, or the Close frame of a client's WebSocket.
    Reset {
        /// `Request` when the client sent it.
        by: Direction,
        /// The error code of RFC 9113 §7, or the status code of RFC 6455 §7.4.
        code: u32,
    },
    /// The connection ended before the response did. Holds the end that came first, if it is known.
    Cut(Option<ConnectionEnd>),
    /// Observation of the connection ended before the exchange did, which may still continue.
    NotObserved,
}
