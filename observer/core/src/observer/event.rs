//! What happened, one thing at a time, for those who want to follow.

use serde::Serialize;

use super::missed::Unrecorded;
use super::record::{RequestRecord, VerdictRecord};
use crate::exchange::{Client, Shape};
use crate::http::{Direction, Loss, Protocol, StreamId};
use crate::k8s::Verb;
use crate::observation::{ConnectionEnd, ConnectionId, ExchangeId, ListenerState, Plaintext, Process, UpstreamName};
use crate::reflector::{self, ListTold, RelistBegan, ResumeTold, StallTold, StuckTold};
use crate::routing::ServerProfile;
use crate::storm::{self, StormRecord};
use crate::time::Timestamp;

/// An event. Its JSON form is a line of `--events` (schema `watchtap.events/v1`, documented in `docs/events.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// What is known of an API server changed.
    Profile {
        /// When.
        at: Timestamp,
        /// Of which.
        #[serde(skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// All that is known.
        profile: Box<ServerProfile>,
    },
    /// A client connected.
    ConnectionOpened {
        /// When.
        at: Timestamp,
        /// Which connection.
        connection: ConnectionId,
        /// To which API server.
        #[serde(skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// What ALPN chose.
        protocol: Option<Protocol>,
        /// Which process of this machine the client is.
        #[serde(skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
        /// Whether it was open before it was observed.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        attached_late: bool,
    },
    /// A connection is over.
    ConnectionClosed {
        /// When.
        at: Timestamp,
        /// Which connection.
        connection: ConnectionId,
        /// Which end came first.
        first_end: Option<ConnectionEnd>,
        /// What was read to be passed on.
        forwarded: Plaintext,
        /// What a decoder was shown of it.
        observed: Plaintext,
    },
    /// The server or the client announced the end of a connection by GOAWAY.
    GoAway {
        /// When.
        at: Timestamp,
        /// Which connection.
        connection: ConnectionId,
        /// `response` when the server did.
        by: Direction,
        /// The error code of RFC 9113 §7.
        code: u32,
    },
    /// A request that is no watch is over.
    Request {
        /// All about it.
        #[serde(flatten)]
        record: Box<RequestRecord>,
    },
    /// A watch was established: its response's head came.
    WatchOpened {
        /// All about it so far.
        #[serde(flatten)]
        record: Box<RequestRecord>,
    },
    /// A watch is over, or was refused.
    WatchEnded {
        /// When it ended.
        ended_at: Timestamp,
        /// All about it.
        #[serde(flatten)]
        record: Box<RequestRecord>,
    },
    /// A reflector has its first list, and watches.
    InitialList {
        /// All about it.
        #[serde(flatten)]
        list: Box<ListTold>,
    },
    /// A reflector begins to list again.
    RelistBegan {
        /// All about it.
        #[serde(flatten)]
        began: Box<RelistBegan>,
    },
    /// A reflector has listed again.
    Relist {
        /// All about it.
        #[serde(flatten)]
        list: Box<ListTold>,
    },
    /// A reflector watches again from where it was, without a list.
    Resume {
        /// All about it.
        #[serde(flatten)]
        resume: Box<ResumeTold>,
    },
    /// A reflector asks again and again for a revision that the API server does not reach.
    Stuck {
        /// All about it.
        #[serde(flatten)]
        stuck: Box<StuckTold>,
    },
    /// A reflector does not read what it asked for, so that the server cannot send.
    Stalled {
        /// All about it.
        #[serde(flatten)]
        stall: Box<StallTold>,
    },
    /// It reads again, or the response is over.
    StallEnded {
        /// All about it.
        #[serde(flatten)]
        stall: Box<StallTold>,
    },
    /// So many reflectors list again that it is a storm.
    StormBegan {
        /// All about it so far.
        #[serde(flatten)]
        record: Box<StormRecord>,
    },
    /// A storm is over.
    StormEnded {
        /// All about it.
        #[serde(flatten)]
        record: Box<StormRecord>,
    },
    /// An answer contradicts its verdict: what is known of the API server is wrong, or the rule is.
    Contradicted {
        /// When it showed.
        at: Timestamp,
        /// Which exchange.
        #[serde(flatten)]
        exchange: ExchangeId,
        /// By whom.
        client: Client,
        /// What was to be done.
        verb: Option<Verb>,
        /// With what.
        #[serde(flatten)]
        shape: Box<Shape>,
        /// Both sides: `predicted` by `rule`, and what the answer shows, `served_from` by `proof`.
        verdict: Box<VerdictRecord>,
        /// The proof in words.
        because: &'static str,
    },
    /// An exchange became another protocol (exec, attach, port-forward, a WebSocket watch).
    Upgraded {
        /// When.
        at: Timestamp,
        /// Which exchange.
        #[serde(flatten)]
        exchange: ExchangeId,
        /// Such as `websocket`.
        protocol: String,
    },
    /// Traffic passed that was not observed.
    Missed {
        /// When.
        at: Timestamp,
        /// On which connection.
        connection: ConnectionId,
        /// In which stream, when that is known.
        stream: Option<StreamId>,
        /// Which way.
        direction: Direction,
        /// How much.
        bytes: u64,
    },
    /// Bytes that are not HTTP as the standard has it.
    Malformed {
        /// When.
        at: Timestamp,
        /// On which connection.
        connection: ConnectionId,
        /// Which way.
        direction: Direction,
        /// Offset in that direction.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// A direction of a connection is not observed any more.
    Dark {
        /// When.
        at: Timestamp,
        /// Which connection.
        connection: ConnectionId,
        /// Which way.
        direction: Direction,
        /// Why.
        loss: Loss,
    },
    /// The decoder of a connection failed; its traffic goes on unobserved.
    DecoderFailed {
        /// When.
        at: Timestamp,
        /// Which connection.
        connection: ConnectionId,
    },
    /// An API server began or ceased to refuse connections, and so did the tap.
    Listener {
        /// When.
        at: Timestamp,
        /// Which API server.
        #[serde(skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// What it does now.
        state: ListenerState,
    },
    /// A client could not be connected.
    ConnectFailed {
        /// When.
        at: Timestamp,
        /// Why.
        why: String,
    },
    /// The TLS connections of a program or library are not seen by the probe.
    NotProbed {
        /// When that was found.
        at: Timestamp,
        /// Its file, as a process that runs it calls it.
        file: String,
        /// Why.
        why: String,
    },
    /// The capture of this run ended early; observing goes on.
    CaptureEnded {
        /// When.
        at: Timestamp,
        /// Why.
        why: String,
    },
    /// A replayed capture does not say what happened in a span of time.
    Unrecorded {
        /// When reading went on.
        at: Timestamp,
        /// The span.
        #[serde(flatten)]
        span: Unrecorded,
    },
}

impl Event {
    /// What a reflector tells, for all to see.
    pub(super) fn of_reflector(told: reflector::Told) -> Self {
        match told {
            reflector::Told::InitialList(list) => Self::InitialList { list },
            reflector::Told::RelistBegan(began) => Self::RelistBegan { began },
            reflector::Told::Relist(list) => Self::Relist { list },
            reflector::Told::Resumed(resume) => Self::Resume { resume },
            reflector::Told::Stuck(stuck) => Self::Stuck { stuck },
            reflector::Told::Stalled(stall) => Self::Stalled { stall },
            reflector::Told::StallEnded(stall) => Self::StallEnded { stall },
        }
    }

    /// What is told of a storm, for all to see.
    pub(super) fn of_storm(told: storm::Told) -> Self {
        match told {
            storm::Told::Began(record) => Self::StormBegan { record },
            storm::Told::Ended(record) => Self::StormEnded { record },
        }
    }

    /// Where there is one API server, nobody needs to hear its name. Of single requests the owner drops it.
    #[must_use]
    pub(super) fn without_upstream_name(mut self) -> Self {
        match &mut self {
            Self::InitialList { list } | Self::Relist { list } => list.shape.upstream = None,
            Self::RelistBegan { began } => began.shape.upstream = None,
            Self::Resume { resume } => resume.shape.upstream = None,
            Self::Stuck { stuck } => stuck.shape.upstream = None,
            Self::Stalled { stall } | Self::StallEnded { stall } => stall.shape.upstream = None,
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
            | Self::Dark { .. }
            | Self::DecoderFailed { .. }
            | Self::Listener { .. }
            | Self::ConnectFailed { .. }
            | Self::NotProbed { .. }
            | Self::CaptureEnded { .. }
            | Self::Unrecorded { .. } => {}
        }
        self
    }
}
