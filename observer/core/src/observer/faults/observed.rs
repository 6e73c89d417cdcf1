//! Handles faults among the observations. Each fault begins a record, to which later events are added until the next fault or a
//! shutdown request.

use crate::observation::Observation;
use crate::observer::event::Event;
use crate::observer::observe::Observer;
use crate::time::Timestamp;

impl Observer {
    /// Whether events have to be noted for a fault.
    pub(in crate::observer) const fn notes_faults(&self) -> bool {
        !self.faults.is_empty() && self.at_shutdown.is_none()
    }

    /// Processes an observation, and adds each resulting event to the record of the latest fault before it.
    pub(in crate::observer) fn process_after_fault(&mut self, observation: Observation, emit: &mut dyn FnMut(Event)) {
        let mut events = Vec::new();
        self.process(observation, &mut |event| events.push(event));
        for event in events {
            self.faults.note(&event);
            emit(event);
        }
    }

    /// Notes that a fault begins.
    pub(in crate::observer) fn fault(&mut self, at: Timestamp, act: String, note: String, emit: &mut dyn FnMut(Event)) {
        let findings = if self.faults.compares_more() { self.findings(&self.rows(), &self.tables.lists()) } else { Vec::new() };
        self.faults.begin(at, act.clone(), note.clone(), &findings);
        emit(Event::Fault { at, act, note });
    }
}
