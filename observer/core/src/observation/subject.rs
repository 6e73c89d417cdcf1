//! An observation: its time, its subject, and the facts about the subject.

use serde::{Deserialize, Serialize};

use super::blockage::Blockage;
use super::probe::ProbeMissed;
use super::request::{RequestLine, ResponseLine};
use super::vocabulary::{
    Body, BodyNotRead, ConnectionEnd, ConnectionId, ExchangeEnd, ExchangeId, JoinedRequests, ListenerState, LoggedClient,
    Plaintext, Process, UpstreamName,
};
use crate::http::{Direction, Identity, Loss, Protocol, StreamId};
use crate::routing::{RecordedRead, ServerProfile};
use crate::time::Timestamp;

/// One record of a tap or its decoder, with its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// When the tap saw it.
    pub at: Timestamp,
    /// The subject, and the facts about it.
    pub subject: Subject,
}

/// The subject of an [`Observation`], and the facts about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A connection between a client and the API server.
    Connection(ConnectionId, ConnectionObservation),
    /// A request and its response.
    Exchange(ExchangeId, ExchangeObservation),
    /// An API server.
    Upstream(UpstreamName, UpstreamObservation),
    /// The tap itself: data that it did not forward or did not observe.
    Tap(TapObservation),
    /// The capture of this run.
    Capture(CaptureObservation),
    /// The run of watchtap.
    Run(RunObservation),
    /// An observation in a capture that this version does not know, because a later one wrote it.
    Unknown,
}

/// A fact about a connection: its life, its blockages, and losses in its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "observation")]
pub enum ConnectionObservation {
    /// A client's connection reached the API server.
    Opened {
        /// API server that the connection reached.
        #[serde(default, skip_serializing_if = "UpstreamName::is_empty")]
        upstream: UpstreamName,
        /// Protocol that ALPN chose; `None` when it is unknown.
        protocol: Option<Protocol>,
        /// Process of the client; `None` when it is unknown or on another machine.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
        /// In a pod, the name of the container whose clients use the listener that accepted the connection.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        container_name: Option<String>,
        /// Whether it was open before it was observed, so that earlier requests are unknown.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        attached_late: bool,
        /// The client, if its requests come from a log; `None` if a tap observed them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        logged: Option<LoggedClient>,
    },
    /// One side ended its half.
    HalfEnded {
        /// Side and manner of the end.
        end: ConnectionEnd,
    },
    /// Both halves are closed.
    Closed {
        /// Bytes that the tap read in order to forward them.
        #[serde(default)]
        forwarded: Plaintext,
        /// Bytes that a decoder was given.
        #[serde(default)]
        observed: Plaintext,
    },
    /// One side sent GOAWAY (RFC 9113 §6.8).
    GoAway {
        /// `Response` when the server sent it.
        by: Direction,
        /// The error code of RFC 9113 §7.
        code: u32,
    },
    /// No more data can be sent to the client for now.
    Blocked {
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
        /// Stream that was blocked; `None` when all streams of the connection waited.
        stream: Option<StreamId>,
        /// Cause of the blockage that is over.
        by: Blockage,
    },
    /// Forwarded bytes that the decoder was not given.
    Gap {
        /// The HTTP/2 stream whose body they belong to; `None` when the tap does not know it.
        stream: Option<StreamId>,
        /// Direction of the bytes.
        direction: Direction,
        /// Length of the gap.
        bytes: u64,
    },
    /// Bytes that are not valid HTTP.
    Malformed {
        /// Direction of the bytes.
        direction: Direction,
        /// Offset in that direction, in bytes.
        offset: u64,
        /// The error, in words.
        what: String,
    },
    /// One direction is no longer decoded.
    DecodingStopped {
        /// Direction that is no longer decoded.
        direction: Direction,
        /// Why decoding stopped.
        loss: Loss,
    },
    /// The decoder failed because of an internal error. The connection continues unobserved.
    DecoderFailed,
}

/// A fact about a request or its response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "observation")]
pub enum ExchangeObservation {
    /// The request's head is complete.
    Requested {
        /// The head of the request.
        request: Box<RequestLine>,
    },
    /// A response with status 1xx; the final response is still to come.
    InterimResponse {
        /// Status code: 100, 103, …
        status: u16,
    },
    /// The response's head is complete.
    Responded {
        /// The head of the response.
        response: Box<ResponseLine>,
    },
    /// Bytes of a body passed.
    BodyBytes {
        /// Request or response body.
        direction: Direction,
        /// Number of bytes, with content coding and without transfer coding.
        bytes: u64,
    },
    /// A part of the response body was decoded.
    BodyRead {
        /// The decoded part.
        body: Body,
    },
    /// The response body is not decoded, or no longer from here on. Its bytes are still counted.
    BodyNotRead {
        /// Why it is not decoded.
        reason: BodyNotRead,
    },
    /// The part of a gap that belongs to a body.
    BodyGap {
        /// Request or response body.
        direction: Direction,
        /// Length of that part.
        bytes: u64,
    },
    /// The exchange switched to another protocol. Its bytes are counted, framing included. Messages of a watch over WebSocket are
    /// also decoded.
    Upgraded {
        /// Such as `websocket` or `spdy/3.1`.
        protocol: String,
    },
    /// A log of the API server or of etcd shows how the request was answered.
    Recorded {
        /// The layer, as far as the log shows it.
        read: RecordedRead,
    },
    /// A log of the API server shows that it closed the watch by force, because the client read too slowly. The response ends as soon as
    /// the client has read what was sent before.
    ClosedByForce {
        /// Number of events that waited for the client, if the log has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waiting: Option<u64>,
    },
    /// A log of the API server shows that it reset the watch cache of the resource, which ended the watch.
    CacheReset,
    /// The user and the time of the request in the API server, as its log has them. May come twice, with one of both.
    Logged {
        /// The user for whom the server acted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user: Option<Identity>,
        /// From the receipt of the request to the last byte of the response, in microseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        took_us: Option<u64>,
    },
    /// The exchange ended.
    Ended {
        /// How it ended.
        end: ExchangeEnd,
    },
}

/// A fact about an API server, or the listener in front of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "observation")]
pub enum UpstreamObservation {
    /// The known facts about it, with their basis.
    Profile {
        /// The complete profile; it replaces the one before.
        profile: Box<ServerProfile>,
    },
    /// The listener in front of it changed its state.
    Listener {
        /// Whether clients are accepted.
        state: ListenerState,
    },
}

/// A report of a tap about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "observation")]
pub enum TapObservation {
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
    ConnectionsUnobserved {
        /// Number of connections since the last such observation.
        connections: u64,
    },
    /// Notices of the tap about itself (listeners, refusals, failed connections) that were discarded for lack of room.
    NoticesDropped {
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
}

/// A part that a capture lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "observation")]
pub enum CaptureObservation {
    /// Observations that are missing. Connections and exchanges that were open may have ended meanwhile.
    Unrecorded {
        /// Number of missing observations; `None` when it is unknown.
        observations: Option<u64>,
        /// Time of the last observation before them; `None` when there is none.
        from: Option<Timestamp>,
        /// Time of the first observation after them, or of the last one among them; `None` when both are unknown.
        until: Option<Timestamp>,
    },
    /// The capture ended before the run that it records. Only the live Observer gets this; the capture itself lacks its end mark.
    Ended {
        /// The reason, in words.
        why: String,
    },
}

/// A moment of the run of watchtap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "observation")]
pub enum RunObservation {
    /// The user requested shutdown, or the observed command exited. The shutdown follows. May be repeated.
    ShutdownRequested,
    /// A demo cluster begins a fault.
    Fault {
        /// The fault, in the words of the script.
        act: String,
        /// The message that the script printed before it; empty if there was none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// Records that did not reach a collector. Only the live Observer gets this, since a replay exports nothing.
    NotExported {
        /// Number of records since the last such observation.
        records: u64,
    },
    /// The requests of the run are joined with those in the API server's log. Later numbers replace earlier ones.
    Joined {
        /// The numbers so far.
        requests: JoinedRequests,
    },
    /// Parts of logs that the requests lack. Later numbers replace earlier ones.
    LogsMissed {
        /// Lines so far that were not read.
        lines: u64,
        /// Events so far that have no time or no request, came too late, or had no room.
        events: u64,
    },
    /// Time passed.
    Tick,
}
