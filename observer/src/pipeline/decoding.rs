//! Decodes the deliveries of taps into observations.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use observer_core::http::{Direction, Start};
use observer_core::observation::{
    ConnectionDecoder, ConnectionObservation, Observation, Plaintext, RunObservation, Subject, TapObservation, UpstreamName,
    UpstreamObservation, WORDS,
};
use observer_core::time::Timestamp;

use super::Upstream;
use crate::api_server::{UpstreamError, UpstreamId};
use crate::injected_fault::{self, Component};
use crate::intake::{ConnectionId, Notice, TapEvent};

/// The decoders of all open connections.
#[derive(Debug)]
pub(super) struct Decoding {
    upstreams: Vec<Upstream>,
    connections: HashMap<ConnectionId, Connection>,
}

/// An open connection.
#[derive(Debug)]
enum Connection {
    Decoded(Box<ConnectionDecoder>),
    /// Its decoder panicked, after it had received `observed` bytes and missed `missed` bytes of plaintext.
    Failed {
        observed: Plaintext,
        missed: Plaintext,
    },
}

impl Decoding {
    pub(super) fn new(upstreams: Vec<Upstream>) -> Self {
        Self { upstreams, connections: HashMap::new() }
    }

    /// Decodes an event of a connection. If a decoder panics, only its connection is no longer decoded.
    ///
    /// Each observation is passed on at once, so a delivery with many observations needs no extra memory here.
    pub(super) fn take(&mut self, id: ConnectionId, event: &TapEvent, emit: &mut dyn FnMut(Observation)) {
        // A panic in `emit` unwinds through the decoder, and must not count as a panic of the decoder.
        let mut receiver_panic = None;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            self.event(id, event, &mut |one| {
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| emit(one))) {
                    receiver_panic = Some(panic);
                    resume_unwind(Box::new("the receiver of observations failed"));
                }
            });
        }));
        if let Some(panic) = receiver_panic {
            resume_unwind(panic);
        }
        if outcome.is_err() {
            self.fail(id);
            emit(Observation { at: time_of(event), subject: Subject::Connection(id, ConnectionObservation::DecoderFailed) });
            if let TapEvent::Closed { at, forwarded } = event {
                self.close(id, *at, *forwarded, emit);
            }
        }
    }

    fn event(&mut self, id: ConnectionId, event: &TapEvent, emit: &mut dyn FnMut(Observation)) {
        match event {
            TapEvent::Opened { at, info, .. } => {
                let connection = id;
                let upstream = info.upstream.and_then(|id| self.upstream(id));
                let path_prefix = upstream.map_or("", |upstream| upstream.path_prefix.as_str());
                let decoder = match info.start {
                    Start::Beginning => ConnectionDecoder::new(connection, info.protocol, path_prefix),
                    Start::Middle => ConnectionDecoder::from_middle(connection, info.protocol, path_prefix),
                };
                let upstream = name(upstream);
                let process = info.process.clone();
                emit(Observation {
                    at: *at,
                    subject: Subject::Connection(
                        connection,
                        ConnectionObservation::Opened {
                            upstream,
                            protocol: info.protocol,
                            process,
                            container_name: info.container_name.clone(),
                            attached_late: info.start == Start::Middle,
                            logged: None,
                        },
                    ),
                });
                self.connections.insert(id, Connection::Decoded(Box::new(decoder)));
            }
            TapEvent::Bytes { at, direction, bytes } => self.on(id, |decoder| {
                injected_fault::inject(Component::Decoder, bytes);
                decoder.bytes(*at, *direction, bytes, emit);
            }),
            TapEvent::Fields { direction, fields, .. } => self.on(id, |decoder| decoder.fields(*direction, fields)),
            TapEvent::Gap { at, direction, gap } => self.on(id, |decoder| decoder.gap(*at, *direction, *gap, emit)),
            TapEvent::ClientBlocked { at, since } => {
                self.on(id, |decoder| decoder.socket_blocked(*at, *since, emit));
            }
            TapEvent::Ended { at, direction, manner } => {
                self.on(id, |decoder| decoder.end(*at, *direction, *manner, emit));
            }
            TapEvent::NotObserved { at } => self.on(id, |decoder| decoder.lose_sight(*at, emit)),
            TapEvent::Closed { at, forwarded } => self.close(id, *at, *forwarded, emit),
        }
    }

    /// Closes a connection. If the decoder panics here, it stays in the map, because it knows how much plaintext it received.
    fn close(&mut self, id: ConnectionId, at: Timestamp, forwarded: Plaintext, emit: &mut dyn FnMut(Observation)) {
        match self.connections.get_mut(&id) {
            Some(Connection::Decoded(decoder)) => {
                injected_fault::inject(Component::Close, &self.upstreams);
                decoder.close(at, forwarded, emit);
            }
            Some(Connection::Failed { observed, missed }) => {
                let (observed, connection) = (*observed, id);
                for (direction, bytes) in lacking(forwarded, observed, *missed) {
                    emit(Observation {
                        at,
                        subject: Subject::Connection(connection, ConnectionObservation::Gap { stream: None, direction, bytes }),
                    });
                }
                emit(Observation {
                    at,
                    subject: Subject::Connection(connection, ConnectionObservation::Closed { forwarded, observed }),
                });
            }
            None => {}
        }
        self.connections.remove(&id);
    }

    fn fail(&mut self, id: ConnectionId) {
        if let Some(followed) = self.connections.get_mut(&id)
            && let Connection::Decoded(decoder) = followed
        {
            *followed = Connection::Failed { observed: decoder.observed(), missed: decoder.missed() };
        }
    }

    /// Makes the observation for a notice. A refused upstream connection has no observation of its own: the client was refused too,
    /// or its connection was reset and that is counted.
    pub(super) fn notice(&self, notice: &Notice) -> Option<Observation> {
        Some(match notice {
            Notice::Asked | Notice::UpstreamFailed { error: UpstreamError::Refused { .. }, .. } => return None,
            Notice::Listener { at, upstream, state } => Observation {
                at: *at,
                subject: Subject::Upstream(name(self.upstream(*upstream)), UpstreamObservation::Listener { state: *state }),
            },
            Notice::ResetInsteadOfRefused { at, clients, .. } => {
                Observation { at: *at, subject: Subject::Tap(TapObservation::ResetInsteadOfRefused { connections: *clients }) }
            }
            Notice::UpstreamFailed { at, error, .. } => {
                Observation { at: *at, subject: Subject::Tap(TapObservation::ConnectFailed { why: words(error.to_string()) }) }
            }
            Notice::ProbeMissed { at, missed } => {
                Observation { at: *at, subject: Subject::Tap(TapObservation::ProbeMissed { missed: *missed }) }
            }
            Notice::NotProbed { at, file, why } => Observation {
                at: *at,
                subject: Subject::Tap(TapObservation::NotProbed { file: words(file.clone()), why: words(why.clone()) }),
            },
            Notice::ShutdownRequested { at } => Observation { at: *at, subject: Subject::Run(RunObservation::ShutdownRequested) },
            Notice::Fault { at, act, note } => Observation {
                at: *at,
                subject: Subject::Run(RunObservation::Fault { act: words(act.clone()), note: words(note.clone()) }),
            },
            Notice::Profile { at, upstream, profile } => {
                let upstream = name(self.upstream(*upstream));
                Observation {
                    at: *at,
                    subject: Subject::Upstream(upstream, UpstreamObservation::Profile { profile: profile.clone() }),
                }
            }
        })
    }

    fn upstream(&self, id: UpstreamId) -> Option<&Upstream> {
        self.upstreams.iter().find(|upstream| upstream.id == id)
    }

    fn on(&mut self, id: ConnectionId, act: impl FnOnce(&mut ConnectionDecoder)) {
        if let Some(Connection::Decoded(decoder)) = self.connections.get_mut(&id) {
            act(decoder);
        }
    }
}

/// Numbers of bytes forwarded after a decoder had failed, for each direction that has any.
fn lacking(forwarded: Plaintext, observed: Plaintext, missed: Plaintext) -> impl Iterator<Item = (Direction, u64)> {
    let rest = |forwarded: u64, observed: u64, missed: u64| forwarded.saturating_sub(observed).saturating_sub(missed);
    let request = rest(forwarded.request, observed.request, missed.request);
    let response = rest(forwarded.response, observed.response, missed.response);
    [(Direction::Request, request), (Direction::Response, response)].into_iter().filter(|(_, bytes)| *bytes > 0)
}

fn name(upstream: Option<&Upstream>) -> UpstreamName {
    upstream.map(|upstream| UpstreamName::of(upstream.name.clone())).unwrap_or_default()
}

/// Cuts text to the maximum length in an observation.
fn words(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(WORDS));
    text
}

fn time_of(event: &TapEvent) -> Timestamp {
    match event {
        TapEvent::Opened { at, .. }
        | TapEvent::Bytes { at, .. }
        | TapEvent::Fields { at, .. }
        | TapEvent::Gap { at, .. }
        | TapEvent::ClientBlocked { at, .. }
        | TapEvent::Ended { at, .. }
        | TapEvent::NotObserved { at }
        | TapEvent::Closed { at, .. } => *at,
    }
}
