//! Losses that taps and decoders report: data that they did not see or understand.

use super::event::Event;
use super::missed::Unrecorded;
use super::observe::Observer;
use crate::observation::What;
use crate::time::Timestamp;

impl Observer {
    /// Counts a loss, and emits its event. Other observations change nothing.
    pub(super) fn miss(&mut self, at: Timestamp, what: What, emit: &mut dyn FnMut(Event)) {
        match what {
            What::Missed { connection, stream, direction, bytes } => {
                self.missed.gaps = self.missed.gaps.saturating_add(1);
                self.missed.bytes = self.missed.bytes.saturating_add(bytes);
                emit(Event::Missed { at, connection, stream, direction, bytes });
            }
            What::Malformed { connection, direction, offset, what } => {
                self.missed.malformed = self.missed.malformed.saturating_add(1);
                emit(Event::Malformed { at, connection, direction, offset, what });
            }
            What::Dark { connection, direction, loss } => {
                self.missed.dark = self.missed.dark.saturating_add(1);
                emit(Event::Dark { at, connection, direction, loss });
            }
            What::DecoderFailed { connection } => {
                self.missed.decoder_failures = self.missed.decoder_failures.saturating_add(1);
                emit(Event::DecoderFailed { at, connection });
                self.lose_sight_of(connection, at, emit);
            }
            What::ResetInsteadOfRefused { connections } => {
                self.missed.reset_instead_of_refused = self.missed.reset_instead_of_refused.saturating_add(connections);
            }
            What::ConnectFailed { why } => {
                self.missed.connect_failures = self.missed.connect_failures.saturating_add(1);
                self.missed.last_connect_failure.clone_from(&why);
                emit(Event::ConnectFailed { at, why });
            }
            What::Unobserved { connections } => {
                self.missed.connections = self.missed.connections.saturating_add(connections);
            }
            What::Untold { notices } => self.missed.notices = self.missed.notices.saturating_add(notices),
            What::ProbeMissed { missed } => self.missed.probe = self.missed.probe.and(&missed),
            What::NotProbed { file, why } => {
                self.missed.not_probed = self.missed.not_probed.saturating_add(1);
                self.missed.last_not_probed = format!("{file}: {why}");
                emit(Event::NotProbed { at, file, why });
            }
            What::Unrecorded { observations, from, until } => {
                let span = Unrecorded { observations, from, until };
                self.missed.note_unrecorded(span);
                emit(Event::Unrecorded { at, span });
                self.lose_sight_of_all(at, emit);
            }
            What::CaptureEnded { why } => {
                self.missed.capture_ended.clone_from(&why);
                emit(Event::CaptureEnded { at, why });
            }
            What::Unknown => self.missed.unknown_observations = self.missed.unknown_observations.saturating_add(1),
            What::Profile { .. }
            | What::ConnectionOpened { .. }
            | What::ConnectionEnded { .. }
            | What::ConnectionClosed { .. }
            | What::GoAway { .. }
            | What::Requested { .. }
            | What::Informed { .. }
            | What::Responded { .. }
            | What::Bytes { .. }
            | What::Understood { .. }
            | What::NotRead { .. }
            | What::Upgraded { .. }
            | What::Ended { .. }
            | What::BodyMissed { .. }
            | What::Blocked { .. }
            | What::Unblocked { .. }
            | What::Listener { .. }
            | What::ShutdownRequested
            | What::Tick => {}
        }
    }
}
