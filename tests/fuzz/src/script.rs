//! The traffic of several connections, in a form that a fuzzer can mutate, and the observations that decoders make of it.
//!
//! Each record has an act (modulo 9, in the order of [`Script::act`]), an argument whose lowest two bits name one of four
//! connections, and a length as two little-endian bytes. For the first two acts as many bytes follow, truncated at the end of the
//! input. Only records advance the time.

use std::collections::BTreeMap;
use std::time::Duration;

use observer_core::http::{Direction, Gap, Protocol};
use observer_core::observation::{
    CaptureObservation, ConnectionDecoder, ConnectionId, ConnectionObservation, EndManner, ListenerState, Observation, ProbeMissed,
    RunObservation, Subject, TapObservation, UpstreamName, UpstreamObservation,
};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;

const MANNERS: [EndManner; 5] =
    [EndManner::CloseNotify, EndManner::Fin, EndManner::Reset, EndManner::BrokenTls, EndManner::ByWatchtap];

/// A running script.
pub(crate) struct Script {
    now: Timestamp,
    last: u64,
    open: BTreeMap<u8, (ConnectionId, ConnectionDecoder)>,
    /// Maximum number of bytes per call of a decoder.
    chunk: usize,
    observations: Vec<Observation>,
}

/// All observations of the script, with at most `chunk` bytes per read.
pub(crate) fn observations(mut records: &[u8], chunk: usize) -> Vec<Observation> {
    let mut script = Script {
        now: Timestamp::from_nanos(1_700_000_000_000_000_000),
        last: 0,
        open: BTreeMap::new(),
        chunk,
        observations: Vec::new(),
    };
    while let Some((&[act, argument, low, high], rest)) = records.split_first_chunk::<4>() {
        let length = u16::from_le_bytes([low, high]);
        let of_payload = if act % 9 < 2 { usize::from(length).min(rest.len()) } else { 0 };
        let (payload, rest) = rest.split_at(of_payload);
        records = rest;
        script.act(act % 9, argument, length, payload);
    }
    script.observations
}

impl Script {
    fn act(&mut self, act: u8, argument: u8, length: u16, payload: &[u8]) {
        let (slot, rest) = (argument & 3, argument >> 2);
        let direction = if rest & 1 == 0 { Direction::Request } else { Direction::Response };
        match act {
            0 => self.bytes(slot, Direction::Request, payload),
            1 => self.bytes(slot, Direction::Response, payload),
            2 => {
                let stream = (rest & 2 == 2).then(|| u32::from(rest >> 2));
                self.decode(slot, |decoder, at, told| {
                    decoder.gap(at, direction, Gap { stream, length: u64::from(length) }, told);
                });
            }
            3 => self.open(slot, rest),
            4 => {
                let manner = MANNERS[usize::from(rest >> 1) % MANNERS.len()];
                self.decode(slot, |decoder, at, told| decoder.end(at, direction, manner, told));
            }
            5 => self.close(slot),
            6 => self.now = self.now.plus(Duration::from_millis(u64::from(length))),
            7 => self.profile(slot, length),
            _ => self.notice(slot, rest, u64::from(length)),
        }
    }

    fn bytes(&mut self, slot: u8, direction: Direction, payload: &[u8]) {
        for piece in payload.chunks(self.chunk) {
            self.decode(slot, |decoder, at, told| decoder.bytes(at, direction, piece, told));
        }
    }

    fn decode(&mut self, slot: u8, feed: impl FnOnce(&mut ConnectionDecoder, Timestamp, &mut dyn FnMut(Observation))) {
        if let Some((_, decoder)) = self.open.get_mut(&slot) {
            feed(decoder, self.now, &mut |observation| self.observations.push(observation));
        }
    }

    fn open(&mut self, slot: u8, kind: u8) {
        self.close(slot);
        self.last += 1;
        let connection = ConnectionId(self.last);
        let protocol = [None, Some(Protocol::Http1), Some(Protocol::Http2)][usize::from(kind % 3)];
        let prefix = if kind & 4 == 4 { "/k8s/clusters/c-1" } else { "" };
        self.push(Subject::Connection(
            connection,
            ConnectionObservation::Opened {
                upstream: upstream(kind >> 3),
                protocol,
                process: None,
                container_name: None,
                attached_late: false,
                logged: None,
            },
        ));
        self.open.insert(slot, (connection, ConnectionDecoder::new(connection, protocol, prefix)));
    }

    fn close(&mut self, slot: u8) {
        if let Some((_, mut decoder)) = self.open.remove(&slot) {
            let forwarded = decoder.observed();
            decoder.close(self.now, forwarded, &mut |observation| self.observations.push(observation));
        }
    }

    fn profile(&mut self, slot: u8, minor: u16) {
        let version = format!("v1.{}.{}", 16 + minor % 24, minor % 7).parse().expect("it is a version");
        let profile = Box::new(ServerProfile::of_version(version, Basis::VersionEndpoint));
        self.push(Subject::Upstream(upstream(slot), UpstreamObservation::Profile { profile }));
    }

    fn notice(&mut self, slot: u8, which: u8, number: u64) {
        let listening = if number.is_multiple_of(2) { ListenerState::Listening } else { ListenerState::Refusing };
        let subject = match which % 12 {
            0 => Subject::Upstream(upstream(slot), UpstreamObservation::Listener { state: listening }),
            1 => Subject::Tap(TapObservation::ResetInsteadOfRefused { connections: number }),
            2 => Subject::Tap(TapObservation::ConnectFailed { why: format!("failure {number}") }),
            3 => Subject::Tap(TapObservation::ConnectionsUnobserved { connections: number }),
            4 => Subject::Tap(TapObservation::NoticesDropped { notices: number }),
            5 => Subject::Capture(CaptureObservation::Unrecorded { observations: Some(number), from: Some(self.now), until: None }),
            6 => Subject::Capture(CaptureObservation::Ended { why: format!("end {number}") }),
            7 => Subject::Run(match number % 4 {
                0 => RunObservation::Fault { act: format!("fault {number}"), note: String::new() },
                _ => RunObservation::Tick,
            }),
            8 => Subject::Unknown,
            9 => Subject::Tap(TapObservation::ProbeMissed { missed: ProbeMissed { records: number, ..ProbeMissed::default() } }),
            10 => Subject::Tap(TapObservation::NotProbed { file: format!("/bin/{number}"), why: "it is none".to_owned() }),
            _ => match self.open.remove(&slot) {
                Some((connection, _)) => Subject::Connection(connection, ConnectionObservation::DecoderFailed),
                None => Subject::Run(RunObservation::Tick),
            },
        };
        self.push(subject);
    }

    fn push(&mut self, subject: Subject) {
        self.observations.push(Observation { at: self.now, subject });
    }
}

fn upstream(number: u8) -> UpstreamName {
    UpstreamName(if number.is_multiple_of(4) { String::new() } else { format!("api-{}.example:6443", number % 4) })
}
