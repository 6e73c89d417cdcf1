//! The words of an observation.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::blockage::Blockage;
use super::probe::ProbeMissed;
use super::request::{RequestLine, ResponseLine};
use crate::http::{Direction, Loss, Protocol, StreamId};
use crate::k8s::{Container, ResourceVersion, Status};
use crate::routing::{ServerProfile, ServerVersion};
use crate::time::Timestamp;
use crate::wire::{ListMeta, ObjectRef, WatchFrame};

/// Longest text that explains something in words, or names a file, in bytes.
pub const WORDS: usize = 4096;

/// A connection between a client and the API server, numbered by the tap from 1 in the order of their beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConnectionId(pub u64);

impl fmt::Display for ConnectionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// An API server, by the name that people know it by: `HOST:PORT`, with the path in front of its API where there is one. Empty where there
/// is but one and nobody named it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UpstreamName(pub String);

impl UpstreamName {
    /// Longest name, in bytes.
    pub const MAX_LENGTH: usize = 1024;

    /// The name, cut at its bound.
    pub fn of(mut name: String) -> Self {
        name.truncate(name.floor_char_boundary(Self::MAX_LENGTH));
        Self(name)
    }

    /// Whether it has no name.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A process of the machine that the tap runs on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Process {
    /// Its number, which another process may get once it is gone.
    pub pid: u32,
    /// When it was started, in clock ticks since the machine was (`starttime` of proc(5)); with the number it is one process for good.
    pub started: u64,
    /// Its name (`comm` of proc(5)), at most 15 bytes.
    pub name: String,
    /// The container that it is in, where it is in a pod and its cgroup tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
}

/// A request and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExchangeId {
    /// On which connection.
    pub connection: ConnectionId,
    /// Which stream of it.
    pub stream: StreamId,
}

/// Bytes of a connection's plaintext, by direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plaintext {
    /// From the client.
    pub request: u64,
    /// From the API server.
    pub response: u64,
}

impl Plaintext {
    /// That of one direction.
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

/// One thing that was seen, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// When the tap saw it.
    #[serde(flatten, with = "crate::time::recorded")]
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "observation")]
pub enum What {
    /// What is known of an API server, and on what that rests.
    Profile {
        /// Of which.
        #[serde(default, skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// All of it; replaces what was known before.
        profile: Box<ServerProfile>,
    },
    /// A client's connection reached the API server.
    ConnectionOpened {
        /// Its number.
        connection: ConnectionId,
        /// Which API server.
        #[serde(default, skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// What ALPN chose, when TLS told.
        protocol: Option<Protocol>,
        /// Which process of this machine the client is, when that could be found out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
        /// Whether it was open before it was observed, so that what was asked on it before is not known.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        attached_late: bool,
    },
    /// One side ended its half of a connection.
    ConnectionEnded {
        /// Which connection.
        connection: ConnectionId,
        /// Who and how.
        end: ConnectionEnd,
    },
    /// Both halves are over.
    ConnectionClosed {
        /// Which connection.
        connection: ConnectionId,
        /// What the tap read to pass it on.
        #[serde(default)]
        forwarded: Plaintext,
        /// What a decoder was shown of it.
        #[serde(default)]
        observed: Plaintext,
    },
    /// GOAWAY.
    GoAway {
        /// Which connection.
        connection: ConnectionId,
        /// `Response` when the server sent it.
        by: Direction,
        /// The error code of RFC 9113 §7.
        code: u32,
    },
    /// A request's head is complete.
    Requested {
        /// Which exchange.
        exchange: ExchangeId,
        /// What it asks.
        request: Box<RequestLine>,
    },
    /// An interim response (1xx).
    Informed {
        /// Which exchange.
        exchange: ExchangeId,
        /// 100, 103, …
        status: u16,
    },
    /// A response's head is complete.
    Responded {
        /// Which exchange.
        exchange: ExchangeId,
        /// What it says.
        response: Box<ResponseLine>,
    },
    /// Bytes of a body passed.
    Bytes {
        /// Which exchange.
        exchange: ExchangeId,
        /// Request or response body.
        direction: Direction,
        /// How many, content coding included, transfer coding not.
        bytes: u64,
    },
    /// A part of a response body was understood.
    Understood {
        /// Which exchange.
        exchange: ExchangeId,
        /// What it says.
        body: Body,
    },
    /// A response body is not, or from here on no longer, understood. Its bytes are still counted.
    NotRead {
        /// Which exchange.
        exchange: ExchangeId,
        /// Why.
        reason: BodyNotRead,
    },
    /// The exchange became another protocol. Its bytes are counted, framing included; the messages of a watch over WebSocket are read.
    Upgraded {
        /// Which exchange.
        exchange: ExchangeId,
        /// Such as `websocket`, `spdy/3.1`.
        protocol: String,
    },
    /// The exchange is over.
    Ended {
        /// Which exchange.
        exchange: ExchangeId,
        /// How.
        end: ExchangeEnd,
    },
    /// Nothing more can be sent to the client for now.
    Blocked {
        /// On which connection.
        connection: ConnectionId,
        /// Of which exchange; `None` where all of the connection wait.
        stream: Option<StreamId>,
        /// Why.
        by: Blockage,
        /// Since when.
        #[serde(serialize_with = "crate::time::recorded_beside::serialize")]
        since: Timestamp,
    },
    /// What was blocked can go on.
    Unblocked {
        /// On which connection.
        connection: ConnectionId,
        /// Of which exchange; `None` where all of the connection waited.
        stream: Option<StreamId>,
        /// Why it had to wait.
        by: Blockage,
    },
    /// Forwarded bytes that the decoder was not shown.
    Missed {
        /// Which connection.
        connection: ConnectionId,
        /// The HTTP/2 stream whose body they belong to, when the tap knows it.
        stream: Option<StreamId>,
        /// Which way.
        direction: Direction,
        /// How many.
        bytes: u64,
    },
    /// Bytes of a body among those that the decoder was not shown.
    BodyMissed {
        /// Which exchange.
        exchange: ExchangeId,
        /// Request or response body.
        direction: Direction,
        /// How many.
        bytes: u64,
    },
    /// Bytes that are not HTTP as the standard has it.
    Malformed {
        /// Which connection.
        connection: ConnectionId,
        /// Which way.
        direction: Direction,
        /// Offset in that direction.
        offset: u64,
        /// What is wrong, in words.
        what: String,
    },
    /// One direction of a connection is not decoded any more.
    Dark {
        /// Which connection.
        connection: ConnectionId,
        /// Which way.
        direction: Direction,
        /// Why.
        loss: Loss,
    },
    /// The decoder of a connection failed on its own account; the connection goes on unobserved.
    DecoderFailed {
        /// Which connection.
        connection: ConnectionId,
    },
    /// The listening side of a tap changed.
    Listener {
        /// In front of which API server.
        #[serde(default, skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// Whether clients are accepted.
        state: ListenerState,
    },
    /// Clients that were reset although the API server itself refused: the refusal came too late to be passed on as such.
    ResetInsteadOfRefused {
        /// How many, since the last such observation.
        connections: u64,
    },
    /// A client's connection did not come about for another reason than a refusal.
    ConnectFailed {
        /// Why, in words.
        why: String,
    },
    /// Client connections that were forwarded unobserved, because there was no room to observe another one.
    Unobserved {
        /// How many, since the last such observation.
        connections: u64,
    },
    /// What a tap told of itself (listeners, refusals, failed connections) and could not be taken, because there was no room.
    Untold {
        /// How many such things, since the last such observation.
        notices: u64,
    },
    /// What the programs of a probe in the kernel could not record.
    ProbeMissed {
        /// How much, since the last such observation.
        missed: ProbeMissed,
    },
    /// A program or library whose TLS connections a probe does not see.
    NotProbed {
        /// Its file, as a process that runs it calls it.
        file: String,
        /// Why, in words.
        why: String,
    },
    /// A capture ended before what it records did. The live Observer only is told; in the capture its end mark is missing.
    CaptureEnded {
        /// Why, in words.
        why: String,
    },
    /// Observations that a capture should hold and does not give. What was open before may have ended in between.
    Unrecorded {
        /// How many; `None` when that cannot be known.
        observations: Option<u64>,
        /// The time of the last one before.
        from: Option<Timestamp>,
        /// The time of the first one behind; `None` when there is none.
        until: Option<Timestamp>,
    },
    /// Somebody asked for the end of the run, or the command that was observed has exited: what follows is the shutdown. May come again.
    ShutdownRequested,
    /// Time passed.
    Tick,
    /// An observation of a capture that this version does not know: a later one wrote it.
    #[serde(other)]
    Unknown,
}

/// Whether a tap's listener takes connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListenerState {
    /// It does.
    Listening,
    /// The API server refuses, so the listener does.
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
    /// RST, or a path that died.
    Reset,
    /// Bytes that are not TLS, or a fatal alert.
    BrokenTls,
    /// watchtap left before either side did, and ended both.
    ByWatchtap,
}

/// Who ended a half of a connection, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ConnectionEnd {
    /// `Request` when the client ended, `Response` when the server did.
    pub direction: Direction,
    /// How.
    pub manner: EndManner,
}

/// What a response body says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// What the body is written in, where its head does not say so.
    MediaType(String),
    /// `kind` of the document.
    Kind(String),
    /// A list's metadata.
    List(ListMeta),
    /// Items of a list, in order; how they are cut into batches has no meaning.
    Items(Vec<ObjectRef>),
    /// A single object.
    Object(ObjectRef),
    /// Events of a watch, in order; how they are cut into batches has no meaning.
    Events(Vec<WatchFrame>),
    /// A `Status`.
    Status(Box<Status>),
    /// The server's version, which the client asked for.
    Version(ServerVersion),
}

impl Body {
    /// The newest revision that it shows, of an item or of the whole, in the answer to a request that names `asked`. A watch from a revision that the
    /// server does not have (etcd was restored) gets bookmarks that repeat it: they show nothing.
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
    /// Not what the media type promises, from this offset on.
    Malformed {
        /// Offset after content coding.
        at: u64,
        /// What is wrong, in words.
        what: String,
    },
}

impl BodyNotRead {
    /// Longest media type that is kept, in bytes.
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
    /// The connection ended before the response did; the end that came first, when it is known.
    Cut(Option<ConnectionEnd>),
    /// The observing of the connection ended before the exchange did; it may still go on.
    OutOfSight,
}
