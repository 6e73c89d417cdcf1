//! The words of labels of losses, and of the tap.

use super::word::words;
use crate::observation::BodyNotRead;

words! {
    /// The kind of a loss, in the order of `Missed`.
    MissedWord {
        /// Bytes that decoders were not given.
        Gap = "gap",
        /// Bytes that are not valid HTTP.
        Malformed = "malformed",
        /// A direction of a connection that is no longer decoded.
        Dark = "dark",
        /// A connection that was forwarded unobserved.
        Connection = "connection",
        /// A notice of a tap about itself.
        Notice = "notice",
        /// An open connection whose API server was forgotten.
        ForgottenConnection = "forgotten_connection",
        /// A connection whose decoder failed.
        DecoderFailure = "decoder_failure",
        /// A line of a log that was not read.
        LogLine = "log_line",
        /// An event of a log without a time or a request, one that came too late, or one without room.
        LogEvent = "log_event",
        /// A request whose method or path is unknown.
        UnknownRequest = "unknown_request",
        /// A request that was not followed, or not to its end.
        Exchange = "exchange",
        /// A finished request that is no longer kept individually.
        Record = "record",
        /// A finished request that is in no table.
        Row = "row",
        /// A connection to an API server beyond those that are distinguished.
        Upstream = "upstream",
        /// A program or library that the probe does not see.
        NotProbed = "not_probed",
        /// A reflector that was dropped.
        Reflector = "reflector",
        /// A request that was assigned to no reflector.
        ReflectorRequest = "reflector_request",
        /// Half of a reflector's object versions.
        ObjectVersions = "object_versions",
        /// A client's own write.
        OwnWrite = "own_write",
        /// A client whose rate limit may be missed.
        RateLimit = "rate_limit",
        /// A get that may belong to a poller.
        Get = "get",
        /// A client that was dropped, with the counts of its requests.
        Client = "client",
        /// A span of a capture.
        Unrecorded = "unrecorded",
        /// An observation of a later version.
        UnknownObservation = "unknown_observation",
        /// A record for an OTLP receiver.
        Otlp = "otlp",
    }
}

words! {
    /// Why a body was not read.
    UnreadWord {
        /// `Content-Type` names a form that is not decoded.
        MediaType = "media_type",
        /// `Content-Encoding` names a form that is not decoded.
        ContentCoding = "content_coding",
        /// It is invalid for its media type.
        Malformed = "malformed",
    }
}

words! {
    /// Why a probe lost a record.
    LostRecordWord {
        /// The ring buffer had no room.
        Ring = "ring",
        /// The memory of the process could not be read.
        Unreadable = "unreadable",
        /// The start or end of a process or socket was not recorded.
        Lifetime = "lifetime",
        /// A header field could not be matched with its bytes.
        UnmatchedField = "unmatched_field",
    }
}

words! {
    /// Why a probe lost bytes.
    LostBytesWord {
        /// The ring buffer had no room.
        Ring = "ring",
        /// The call had more bytes than are recorded of one.
        BeyondLargestCall = "beyond_largest_call",
        /// The socket was never found.
        Unplaced = "unplaced",
    }
}

words! {
    /// Why a probe lost a call.
    LostCallWord {
        /// Its beginning was not seen: the probe was attached later.
        NoBeginning = "no_beginning",
        /// There was no room for it.
        NoRoom = "no_room",
        /// It seemed to use another socket.
        OtherSocket = "other_socket",
    }
}

words! {
    /// Why a probe lost a connection.
    LostConnectionWord {
        /// There was no room for it.
        NoRoom = "no_room",
        /// Its socket was not found.
        NoSocket = "no_socket",
    }
}

words! {
    /// How much of a file's calls a probe sees.
    SeenWord {
        /// All.
        All = "all",
        /// Some of them.
        Part = "part",
        /// No call.
        None = "none",
    }
}

words! {
    /// Whether a probe follows an address of an API server.
    AddressWord {
        /// The server has it, and it is followed.
        Current = "current",
        /// The server no longer has it, and it is still followed.
        Former = "former",
        /// It is not followed for lack of room.
        NoRoom = "no_room",
    }
}

words! {
    /// The result of a request for the EndpointSlice.
    SliceWord {
        /// It was read.
        Read = "read",
        /// It was refused, or there is none.
        Refused = "refused",
        /// There was no answer, or one that may change soon.
        Failed = "failed",
    }
}

words! {
    /// The tap of a run.
    TapWord {
        /// Clients connect through watchtap.
        Proxy = "proxy",
        /// Programs in the kernel record clients.
        Probe = "probe",
        /// A capture that is read.
        Replay = "replay",
    }
}

impl UnreadWord {
    pub(crate) const fn of(reason: &BodyNotRead) -> Self {
        match reason {
            BodyNotRead::MediaType(_) => Self::MediaType,
            BodyNotRead::ContentCoding(_) => Self::ContentCoding,
            BodyNotRead::Malformed { .. } => Self::Malformed,
        }
    }
}
