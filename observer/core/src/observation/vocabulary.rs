//! The vocabulary of observations.

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

/// Longest explanation or file name, in bytes.
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
    /// Longest name, in bytes.
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
    /// Start time in clock ticks since boot (`starttime` of proc(5)). Together with `pid` it identifies one process for good.
    pub started: u64,
    /// Its name (`comm` of proc(5)), at most 15 bytes.
    pub name: String,
    /// The container that it is in; `None` unless its cgroup shows a container in a pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
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

/// One record of a tap or its decoder, with its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// When the tap saw it.
    #[serde(flatten, with = "crate::time::recorded")]
    pub at: Timestamp,
    /// Content of the observation.
    #[serde(flatten)]
    pub what: What,
}

/// Content of an [`Observation`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "observation")]
pub enum What {
    /// The known facts about an API server, with their basis.
    Profile {
        /// API server that the profile describes.
        #[serde(default, skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// The complete profile; it replaces the one before.
        profile: Box<ServerProfile>,
    },
    /// A client's connection reached the API server.
    ConnectionOpened {
        /// Number of the new connection.
        connection: ConnectionId,
        /// API server that the connection reached.
        #[serde(default, skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// Protocol that ALPN chose; `None` when it is unknown.
        protocol: Option<Protocol>,
        /// Process of the client; `None` when it is unknown or on another machine.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
        /// Whether it was open before it was observed, so that earlier requests are unknown.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        attached_late: bool,
    },
    /// One side ended its half of a connection.
    ConnectionEnded {
        /// Connection of the half that ended.
        connection: ConnectionId,
        /// Side and manner of the end.
        end: ConnectionEnd,
    },
    /// Both halves of a connection are closed.
    ConnectionClosed {
        /// Connection that is closed.
        connection: ConnectionId,
        /// Bytes that the tap read to pass them on.
        #[serde(default)]
        forwarded: Plaintext,
        /// Bytes that a decoder was given.
        #[serde(default)]
        observed: Plaintext,
    },
    /// One side sent GOAWAY (RFC 9113 §6.8).
    GoAway {
        /// Connection that it concerns.
        connection: ConnectionId,
        /// `Response` when the server sent it.
        by: Direction,
        /// The error code of RFC 9113 §7.
        code: u32,
    },
    /// A request's head is complete.
    Requested {
        /// Exchange that the request begins.
        exchange: ExchangeId,
        /// The head of the request.
        request: Box<RequestLine>,
    },
    /// An interim response (1xx).
    Informed {
        /// Exchange whose final response is still to come.
        exchange: ExchangeId,
        /// Status code: 100, 103, …
        status: u16,
    },
    /// A response's head is complete.
    Responded {
        /// Exchange that the response belongs to.
        exchange: ExchangeId,
        /// The head of the response.
        response: Box<ResponseLine>,
    },
    /// Bytes of a body passed.
    Bytes {
        /// Exchange that the body belongs to.
        exchange: ExchangeId,
        /// Request or response body.
        direction: Direction,
        /// Number of bytes, with content coding and without transfer coding.
        bytes: u64,
    },
    /// A part of a response body was understood.
    Understood {
        /// Exchange that the body belongs to.
        exchange: ExchangeId,
        /// The part that was understood.
        body: Body,
    },
    /// A response body is not understood, or no longer from here on. Its bytes are still counted.
    NotRead {
        /// Exchange that the body belongs to.
        exchange: ExchangeId,
        /// Why it is not understood.
        reason: BodyNotRead,
    },
    /// The exchange switched to another protocol. Its bytes are counted with framing; messages of a watch over WebSocket are read.
    Upgraded {
        /// Exchange that switched.
        exchange: ExchangeId,
        /// Such as `websocket` or `spdy/3.1`.
        protocol: String,
    },
    /// An exchange ended.
    Ended {
        /// Exchange that ended.
        exchange: ExchangeId,
        /// How it ended.
        end: ExchangeEnd,
    },
    /// No more data can be sent to the client for now.
    Blocked {
        /// Connection to the client.
        connection: ConnectionId,
        /// Stream that is blocked; `None` when all streams of the connection wait.
        stream: Option<StreamId>,
        /// Cause of the blockage.
        by: Blockage,
        /// Start of the blockage.
        #[serde(serialize_with = "crate::time::recorded_beside::serialize")]
        since: Timestamp,
    },
    /// Data can be sent to the client again.
    Unblocked {
        /// Connection to the client.
        connection: ConnectionId,
        /// Stream that was blocked; `None` when all streams of the connection waited.
        stream: Option<StreamId>,
        /// Cause of the blockage that is over.
        by: Blockage,
    },
    /// A gap: forwarded bytes that the decoder was not given.
    Missed {
        /// Connection that has the gap.
        connection: ConnectionId,
        /// The HTTP/2 stream whose body they belong to; `None` when the tap does not know it.
        stream: Option<StreamId>,
        /// Direction of the bytes.
        direction: Direction,
        /// Length of the gap.
        bytes: u64,
    },
    /// The part of a gap that belongs to a body.
    BodyMissed {
        /// Exchange that the body belongs to.
        exchange: ExchangeId,
        /// Request or response body.
        direction: Direction,
        /// Length of that part.
        bytes: u64,
    },
    /// Bytes that are not valid HTTP.
    Malformed {
        /// Connection that carries them.
        connection: ConnectionId,
        /// Direction of the bytes.
        direction: Direction,
        /// Offset in that direction, in bytes.
        offset: u64,
        /// The error, in words.
        what: String,
    },
    /// One direction of a connection is no longer decoded.
    Dark {
        /// Connection that is affected.
        connection: ConnectionId,
        /// Direction that is no longer decoded.
        direction: Direction,
        /// Why decoding stopped.
        loss: Loss,
    },
    /// The decoder of a connection failed because of an internal error. The connection continues unobserved.
    DecoderFailed {
        /// Connection whose decoder failed.
        connection: ConnectionId,
    },
    /// The listener of a tap changed its state.
    Listener {
        /// API server behind the listener.
        #[serde(default, skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// Whether clients are accepted.
        state: ListenerState,
    },
    /// Clients that were reset although the API server refused connections: its refusal came too late to pass on.
    ResetInsteadOfRefused {
        /// Number of clients since the last such observation.
        connections: u64,
    },
    /// A client's connection failed for a reason other than a refusal.
    ConnectFailed {
        /// The reason, in words.
        why: String,
    },
    /// Client connections that were forwarded unobserved, because there was no room to observe another one.
    Unobserved {
        /// Number of connections since the last such observation.
        connections: u64,
    },
    /// Notices of a tap about itself (listeners, refusals, failed connections) that were discarded for lack of room.
    Untold {
        /// Number of notices since the last such observation.
        notices: u64,
    },
    /// Losses of a probe in the kernel.
    ProbeMissed {
        /// Losses since the last such observation.
        missed: ProbeMissed,
    },
    /// A program or library whose TLS connections a probe does not see.
    NotProbed {
        /// Its file, as named by a process that runs it.
        file: String,
        /// The reason, in words.
        why: String,
    },
    /// A capture ended before the run that it records. Only the live Observer gets this; the capture itself lacks its end mark.
    CaptureEnded {
        /// The reason, in words.
        why: String,
    },
    /// Observations that are missing from a capture. Connections and exchanges that were open may have ended meanwhile.
    Unrecorded {
        /// Number of missing observations; `None` when it is unknown.
        observations: Option<u64>,
        /// Time of the last observation before them; `None` when there is none.
        from: Option<Timestamp>,
        /// Time of the first observation after them, or of the last one among them; `None` when both are unknown.
        until: Option<Timestamp>,
    },
    /// The user requested shutdown, or the observed command exited. The shutdown follows. May be repeated.
    ShutdownRequested,
    /// Time passed.
    Tick,
    /// An observation in a capture that this version does not know, because a later one wrote it.
    #[serde(other)]
    Unknown,
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
    /// RST, or a network path that died.
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
    /// The newest revision that it shows, of the list or of an item, in the answer to a request that names `asked`. A watch may ask
    /// for a revision that the server does not have, because etcd was restored. Bookmarks that repeat this revision show nothing.
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
    /// The connection ended before the response did. Holds the end that came first, if it is known.
    Cut(Option<ConnectionEnd>),
    /// Observation of the connection ended before the exchange did, which may still continue.
    OutOfSight,
}
