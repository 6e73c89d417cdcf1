//! Losses that taps and captures report: data that they did not see or record.

use super::event::Event;
use super::missed::Unrecorded;
use super::observe::Observer;
use crate::observation::{CaptureObservation, TapObservation};
use crate::time::Timestamp;

impl Observer {
    pub(super) fn observe_tap(&mut self, at: Timestamp, observed: TapObservation, emit: &mut dyn FnMut(Event)) {
        match observed {
            TapObservation::ResetInsteadOfRefused { connections } => {
                self.missed.reset_instead_of_refused = self.missed.reset_instead_of_refused.saturating_add(connections);
            }
            TapObservation::ConnectFailed { why } => {
                self.missed.connect_failures = self.missed.connect_failures.saturating_add(1);
                self.missed.last_connect_failure.clone_from(&why);
                emit(Event::ConnectFailed { at, why });
            }
            TapObservation::ConnectionsUnobserved { connections } => {
                self.missed.connections = self.missed.connections.saturating_add(connections);
            }
            TapObservation::NoticesDropped { notices } => self.missed.notices = self.missed.notices.saturating_add(notices),
            TapObservation::ProbeMissed { missed } => self.missed.probe = self.missed.probe.and(&missed),
            TapObservation::NotProbed { file, why } => {
                self.missed.not_probed = self.missed.not_probed.saturating_add(1);
                self.missed.last_not_probed = format!("{file}: {why}");
                emit(Event::NotProbed { at, file, why });
            }
        }
    }

    pub(super) fn observe_capture(&mut self, at: Timestamp, observed: CaptureObservation, emit: &mut dyn FnMut(Event)) {
        match observed {
            CaptureObservation::Unrecorded { observations, from, until } => {
                let span = Unrecorded { observations, from, until };
                self.missed.note_unrecorded(span);
                emit(Event::Unrecorded { at, span });
                self.lose_sight_of_all(at, emit);
            }
            CaptureObservation::Ended { why } => {
                self.missed.capture_ended.clone_from(&why);
                emit(Event::CaptureEnded { at, why });
            }
        }
    }
}
