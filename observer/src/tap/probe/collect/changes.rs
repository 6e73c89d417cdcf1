//! Keeps changes of processes and sockets, which arrive separately from the records, until all earlier records were taken.

use std::collections::VecDeque;

use observer_ebpf::LifetimeEvent;

use crate::tap::probe::attach::FieldRecording;

/// Maximum number of ends that wait, and of changes of header-field recording that wait.
const MAX_WAITING: usize = 65_536;

/// Changes from two sources, each in order of time. All times are of the kernel's clock.
#[derive(Debug, Default)]
pub(super) struct Changes {
    ends: VecDeque<LifetimeEvent>,
    recording: VecDeque<FieldRecording>,
}

/// A change from either source.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// A process or a socket ended, or began to end.
    Ended(LifetimeEvent),
    /// Recording of a process's header fields begins or ends.
    FieldRecording(FieldRecording),
}

impl Changes {
    pub(super) fn ended(&mut self, event: LifetimeEvent) {
        self.ends.push_back(event);
    }

    pub(super) fn record_fields(&mut self, recording: FieldRecording) {
        self.recording.push_back(recording);
    }

    /// Whether so many wait that they must be applied at once.
    pub(super) fn are_too_many(&self) -> bool {
        self.ends.len() > MAX_WAITING || self.recording.len() > MAX_WAITING
    }

    /// Takes the earliest change before a time. The order of the two sources matters, since a process with recorded header fields
    /// may have the PID of a process that has ended.
    pub(super) fn next(&mut self, before: u64) -> Option<Change> {
        let end = self.ends.front().map_or(u64::MAX, |event| event.time);
        let recording = self.recording.pop_front_if(|recording| recording.at < end.min(before));
        recording.map(Change::FieldRecording).or_else(|| self.ends.pop_front_if(|event| event.time < before).map(Change::Ended))
    }
}

#[cfg(test)]
mod tests {
    use observer_ebpf::LifetimeKind;

    use super::*;

    const PROCESS: u32 = 7;

    fn end(time: u64) -> LifetimeEvent {
        LifetimeEvent { time, kind: LifetimeKind::Exit as u32, process: PROCESS, socket: 0, before: 0, after: 0, error: 0 }
    }

    /// Times of all changes; for a change of header-field recording, with its new value.
    fn all(changes: &mut Changes, before: u64) -> Vec<(u64, Option<bool>)> {
        let next = || {
            Some(match changes.next(before)? {
                Change::Ended(event) => (event.time, None),
                Change::FieldRecording(recording) => (recording.at, Some(recording.is_on)),
            })
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn former_process_exit_precedes_field_recording() {
        let mut changes = Changes::default();
        changes.record_fields(FieldRecording { process: PROCESS, is_on: false, at: 200 });
        changes.record_fields(FieldRecording { process: PROCESS, is_on: true, at: 300 });
        changes.ended(end(100));
        changes.ended(end(400));
        assert_eq!(all(&mut changes, 100), []);
        assert_eq!(all(&mut changes, 250), [(100, None), (200, Some(false))]);
        assert_eq!(all(&mut changes, u64::MAX), [(300, Some(true)), (400, None)]);
    }

    #[test]
    fn too_many_waiting_changes_are_detected() {
        let mut changes = Changes::default();
        (0..MAX_WAITING).for_each(|_| changes.ended(end(1)));
        (0..MAX_WAITING).for_each(|_| changes.record_fields(FieldRecording { process: PROCESS, is_on: true, at: 1 }));
        assert!(!changes.are_too_many());
        changes.record_fields(FieldRecording { process: PROCESS, is_on: true, at: 1 });
        assert!(changes.are_too_many());
        assert_eq!(all(&mut changes, u64::MAX).len(), 2 * MAX_WAITING + 1);
        changes.ended(end(1));
        assert!(!changes.are_too_many());
    }
}
