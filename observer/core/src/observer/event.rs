//! Events, which the Observer emits as they happen.

use std::time::Duration;

use serde::Serialize;

use super::missed::Unrecorded;
use super::record::{RequestRecord, VerdictRecord};
use crate::exchange::{Client, Shape};
use crate::http::{Direction, Loss, Protocol, StreamId};
use crate::k8s::Verb;
use crate::observation::{ConnectionEnd, ConnectionId, ExchangeId, ListenerState, Plaintext, Process, UpstreamName};
use crate::reflector::{ListEvent, ReflectorEvent, RelistBegan, ResumeEvent, StallEvent, StuckEvent, TroubleEvent};
use crate::routing::ServerProfile;
use crate::storm::{self, StormRecord};
use crate::time::Timestamp;

/// An event. Its JSON form is a line of `--events` (schema `watchtap.events/v1`, documented in `docs/events.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// The known facts about an API server changed.
    Profile {
        /// When they changed.
        at: Timestamp,
        /// API server that the profile describes.
        #[serde(skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// The complete profile.
        profile: Box<ServerProfile>,
    },
    /// A client's connection reached an API server.
    ConnectionOpened {
        /// When it was opened, or first observed.
        at: Timestamp,
        /// Number of the new connection.
        connection: ConnectionId,
        /// API server that the connection reached.
        #[serde(skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// Protocol that ALPN chose; `None` when it is unknown.
        protocol: Option<Protocol>,
        /// Process of the client; `None` when it is unknown or on another machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
        /// In a pod, the name of the container whose clients use the listener that accepted the connection.
        #[serde(skip_serializing_if = "Option::is_none")]
        container_name: Option<String>,
        /// Whether it was open before it was observed, so that earlier requests are unknown.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        attached_late: bool,
    },
    /// Both halves of a connection are closed.
    ConnectionClosed {
        /// When the second half closed.
        at: Timestamp,
        /// Connection that is closed.
        connection: ConnectionId,
        /// The side that ended its half first, and how; `None` when that was not seen.
        first_end: Option<ConnectionEnd>,
        /// Bytes that the tap read in order to forward them.
        forwarded: Plaintext,
        /// Bytes that a decoder was given.
        observed: Plaintext,
    },
    /// The server or the client sent GOAWAY.
    GoAway {
        /// When the tap saw it.
        at: Timestamp,
        /// Connection that will end.
        connection: ConnectionId,
        /// `response` when the server sent it.
        by: Direction,
        /// The error code of RFC 9113 §7.
        code: u32,
    },
    /// A request other than a watch ended.
    Request {
        /// The request and its response.
        #[serde(flatten)]
        record: Box<RequestRecord>,
    },
    /// The server accepted a watch: the head of its response came.
    WatchOpened {
        /// The watch so far.
        #[serde(flatten)]
        record: Box<RequestRecord>,
    },
    /// A watch ended, or was refused.
    WatchEnded {
        /// When it ended.
        ended_at: Timestamp,
        /// The watch, from its request to its end.
        #[serde(flatten)]
        record: Box<RequestRecord>,
    },
    /// The first list of a reflector is complete, and the reflector watches.
    InitialList {
        /// The list and its cost.
        #[serde(flatten)]
        list: Box<ListEvent>,
    },
    /// A reflector started a relist.
    RelistBegan {
        /// Reflector and cause of the relist.
        #[serde(flatten)]
        began: Box<RelistBegan>,
    },
    /// A relist is complete.
    Relist {
        /// The list, with its cost, cause and evidence.
        #[serde(flatten)]
        list: Box<ListEvent>,
    },
    /// A reflector resumed its watch, without a list.
    Resume {
        /// The new watch, and how the previous one ended.
        #[serde(flatten)]
        resume: Box<ResumeEvent>,
    },
    /// A reflector repeatedly asks for a revision that the API server does not reach.
    Stuck {
        /// The revision, and the refusals so far.
        #[serde(flatten)]
        stuck: Box<StuckEvent>,
    },
    /// A reflector does not read its response, so the server cannot send.
    Stalled {
        /// The stall so far, with its cause.
        #[serde(flatten)]
        stall: Box<StallEvent>,
    },
    /// A stalled reflector reads again, or its response ended.
    StallEnded {
        /// The stall, with its cause and length.
        #[serde(flatten)]
        stall: Box<StallEvent>,
    },
    /// Watches or lists of a reflector are in trouble: a deaf watch, for example.
    TroubleBegan {
        /// The trouble, with its evidence.
        #[serde(flatten)]
        trouble: Box<TroubleEvent>,
    },
    /// The trouble is over.
    TroubleEnded {
        /// The trouble, with its evidence.
        #[serde(flatten)]
        trouble: Box<TroubleEvent>,
    },
    /// A storm was declared: enough reflectors relist at once.
    StormBegan {
        /// The storm so far.
        #[serde(flatten)]
        record: Box<StormRecord>,
    },
    /// A storm ended: enough time passed without a new member.
    StormEnded {
        /// The storm from its beginning to its end.
        #[serde(flatten)]
        record: Box<StormRecord>,
    },
    /// An answer contradicts its verdict: the known facts about the API server are wrong, or the rule is.
    Contradicted {
        /// When the answer showed it.
        at: Timestamp,
        /// Connection and stream of the request.
        #[serde(flatten)]
        exchange: ExchangeId,
        /// The client, as its request identifies it.
        client: Client,
        /// The verb; `None` when method or path is unknown.
        verb: Option<Verb>,
        /// Resource, objects and options of the request.
        #[serde(flatten)]
        shape: Box<Shape>,
        /// The corrected verdict. `rule` predicted the layer in `predicted`, and `proof` shows the layer in `served_from`.
        verdict: Box<VerdictRecord>,
        /// The proof in words.
        because: &'static str,
    },
    /// An exchange switched to another protocol (exec, attach, port-forward, a WebSocket watch).
    Upgraded {
        /// When it switched.
        at: Timestamp,
        /// Connection and stream of the request.
        #[serde(flatten)]
        exchange: ExchangeId,
        /// The new protocol, such as `websocket`.
        protocol: String,
    },
    /// Bytes were forwarded that no decoder was given.
    Missed {
        /// When the gap was noticed.
        at: Timestamp,
        /// Connection that has the gap.
        connection: ConnectionId,
        /// HTTP/2 stream whose body the bytes belong to; `None` when it is unknown.
        stream: Option<StreamId>,
        /// Direction of the bytes.
        direction: Direction,
        /// Length of the gap.
        bytes: u64,
    },
    /// Bytes are not valid HTTP.
    Malformed {
        /// When the tap saw them.
        at: Timestamp,
        /// Connection that carries them.
        connection: ConnectionId,
        /// Direction of the bytes.
        direction: Direction,
        /// Offset in that direction, in bytes.
        offset: u64,
        /// The error, in words.
        what: String,
    },
    /// A direction of a connection is no longer observed.
    DecodingStopped {
        /// When decoding stopped.
        at: Timestamp,
        /// Connection that is affected.
        connection: ConnectionId,
        /// Direction that is no longer observed.
        direction: Direction,
        /// Why decoding stopped.
        loss: Loss,
    },
    /// The decoder of a connection failed because of an internal error. The connection continues unobserved.
    DecoderFailed {
        /// When it failed.
        at: Timestamp,
        /// Connection whose decoder failed.
        connection: ConnectionId,
    },
    /// An API server started or stopped refusing connections, and so did the tap's listener in front of it.
    Listener {
        /// When the tap's listener changed its state.
        at: Timestamp,
        /// The API server.
        #[serde(skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// Whether the tap accepts clients now.
        state: ListenerState,
    },
    /// A client could not be connected to the API server.
    ConnectFailed {
        /// When the attempt failed.
        at: Timestamp,
        /// The reason, in words.
        why: String,
    },
    /// The probe does not see the TLS connections of a program or library.
    NotProbed {
        /// When the probe found that out.
        at: Timestamp,
        /// Its file, as named by a process that runs it.
        file: String,
        /// The reason, in words.
        why: String,
    },
    /// A demo cluster began a fault.
    Fault {
        /// When it began.
        at: Timestamp,
        /// The fault, in the words of the script.
        act: String,
        /// The message that the script printed before it; empty if there was none.
        #[serde(skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// The capture of this run ended early; observing continues.
    CaptureEnded {
        /// When it ended.
        at: Timestamp,
        /// The reason, in words.
        why: String,
    },
    /// A replayed capture lacks the observations of a span of time.
    Unrecorded {
        /// When the replay resumes.
        at: Timestamp,
        /// Bounds of the span, and the number of observations that it lacks.
        #[serde(flatten)]
        span: Unrecorded,
    },
}

impl Event {
    /// When it happened, or was over: for a request, a list or a storm, this is its end.
    pub fn happened_at(&self) -> Timestamp {
        let after = |at: Timestamp, microseconds: Option<u64>| at.plus(Duration::from_micros(microseconds.unwrap_or_default()));
        match self {
            Self::Request { record } => after(record.at, record.total_us),
            Self::WatchOpened { record } => after(record.at, record.first_byte_us),
            Self::WatchEnded { ended_at, .. } => *ended_at,
            Self::InitialList { list } | Self::Relist { list } => list.ended_at,
            Self::RelistBegan { began } => began.at,
            Self::Resume { resume } => resume.at,
            Self::Stuck { stuck } => stuck.at,
            Self::Stalled { stall } | Self::StallEnded { stall } => stall.at,
            Self::TroubleBegan { trouble } | Self::TroubleEnded { trouble } => trouble.at,
            Self::StormBegan { record } => record.named,
            Self::StormEnded { record } => record.ended.unwrap_or(record.last),
            Self::Profile { at, .. }
            | Self::ConnectionOpened { at, .. }
            | Self::ConnectionClosed { at, .. }
            | Self::GoAway { at, .. }
            | Self::Contradicted { at, .. }
            | Self::Upgraded { at, .. }
            | Self::Missed { at, .. }
            | Self::Malformed { at, .. }
            | Self::DecodingStopped { at, .. }
            | Self::DecoderFailed { at, .. }
            | Self::Listener { at, .. }
            | Self::ConnectFailed { at, .. }
            | Self::NotProbed { at, .. }
            | Self::Fault { at, .. }
            | Self::CaptureEnded { at, .. }
            | Self::Unrecorded { at, .. } => *at,
        }
    }

    /// Makes an event from a report of a reflector; `None` for a report that is only counted.
    pub(super) fn of_reflector(report: ReflectorEvent) -> Option<Self> {
        Some(match report {
            ReflectorEvent::InitialList(list) => Self::InitialList { list },
            ReflectorEvent::RelistBegan(began) => Self::RelistBegan { began },
            ReflectorEvent::Relist(list) => Self::Relist { list },
            ReflectorEvent::Resumed(resume) => Self::Resume { resume },
            ReflectorEvent::Stuck(stuck) => Self::Stuck { stuck },
            ReflectorEvent::Stalled(stall) => Self::Stalled { stall },
            ReflectorEvent::StallEnded(stall) => Self::StallEnded { stall },
            ReflectorEvent::TroubleBegan(trouble) => Self::TroubleBegan { trouble },
            ReflectorEvent::TroubleEnded(trouble) => Self::TroubleEnded { trouble },
            ReflectorEvent::FellBack { .. } | ReflectorEvent::WentBack { .. } | ReflectorEvent::WriteArrived { .. } => return None,
        })
    }

    /// Makes an event from a report on a storm.
    pub(super) fn of_storm(emit: storm::StormEvent) -> Self {
        match emit {
            storm::StormEvent::Began(record) => Self::StormBegan { record },
            storm::StormEvent::Ended(record) => Self::StormEnded { record },
        }
    }

    /// Removes the API server's name, for runs with only one API server. Request records are not changed here: the Observer removes
    /// the name from them.
    #[must_use]
    pub(super) fn without_upstream_name(mut self) -> Self {
        match &mut self {
            Self::InitialList { list } | Self::Relist { list } => list.shape.upstream = None,
            Self::RelistBegan { began } => began.shape.upstream = None,
            Self::Resume { resume } => resume.shape.upstream = None,
            Self::Stuck { stuck } => stuck.shape.upstream = None,
            Self::Stalled { stall } | Self::StallEnded { stall } => stall.shape.upstream = None,
            Self::TroubleBegan { trouble } | Self::TroubleEnded { trouble } => trouble.shape.upstream = None,
            Self::StormBegan { record } | Self::StormEnded { record } => record.drop_upstream_name(),
            Self::Profile { .. }
            | Self::ConnectionOpened { .. }
            | Self::ConnectionClosed { .. }
            | Self::GoAway { .. }
            | Self::Request { .. }
            | Self::WatchOpened { .. }
            | Self::WatchEnded { .. }
            | Self::Contradicted { .. }
            | Self::Upgraded { .. }
            | Self::Missed { .. }
            | Self::Malformed { .. }
            | Self::DecodingStopped { .. }
            | Self::DecoderFailed { .. }
            | Self::Listener { .. }
            | Self::ConnectFailed { .. }
            | Self::NotProbed { .. }
            | Self::Fault { .. }
            | Self::CaptureEnded { .. }
            | Self::Unrecorded { .. } => {}
        }
        self
    }
}
