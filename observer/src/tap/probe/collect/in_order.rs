//! Passes the kernel's output from several sources to the assembly in order of time.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use observer_core::observation::Process;
use observer_core::time::Timestamp;
use observer_ebpf::{LifetimeEvent, LifetimeKind, Record};

use super::changes::{Change, Changes};
use super::detached_files::DetachedFiles;
use crate::api_server::UpstreamId;
use crate::tap::probe::assembly::{Assembly, Recording};
use crate::tap::probe::attach::FieldRecording;
use crate::tap::probe::find::Containers;
use crate::tap::probe::kernel_clock::Times;

/// The assembly, and the changes that wait for their turn. All times are of the kernel's clock.
#[derive(Debug)]
pub(in crate::tap::probe) struct InOrder {
    times: Times,
    assembly: Assembly,
    containers: Containers,
    /// Each change waits until all records made before it were passed on.
    changes: Changes,
    detached: DetachedFiles,
    /// All records up to this time were taken, except those whose programs were interrupted.
    taken_until: u64,
}

impl InOrder {
    pub(in crate::tap::probe) fn new(times: Times, assembly: Assembly, containers: Containers) -> Self {
        Self { times, assembly, containers, changes: Changes::default(), detached: DetachedFiles::default(), taken_until: 0 }
    }

    /// If the clocks have diverged, uses the reading `now` for later conversions of times.
    pub(in crate::tap::probe) fn adjust_clocks(&mut self, now: Times) {
        self.times = self.times.again(now);
    }

    /// Notes that a process or a socket ended, or began to end.
    pub(in crate::tap::probe) fn ended(&mut self, event: LifetimeEvent) {
        self.changes.ended(event);
        self.bound_changes();
    }

    /// Notes that a file is no longer probed, and that nothing is recorded of it after `at`.
    pub(in crate::tap::probe) fn detached(&mut self, file: u16, at: u64) {
        self.detached.add(file, at);
    }

    /// Notes that recording of a process's header fields starts or stops.
    pub(in crate::tap::probe) fn record_fields(&mut self, recording: FieldRecording) {
        self.changes.record_fields(recording);
        self.bound_changes();
    }

    /// Takes the next record. Before that, applies earlier changes, and gives up detached files that have no more records. This
    /// order matters: a new connection may have the socket and the memory address of a connection that has ended. The file of the
    /// new connection may have the number of a detached file.
    pub(in crate::tap::probe) fn take(&mut self, record: &Record, payload: &[u8]) -> Recording {
        self.apply_changes(record.time);
        for file in self.detached.before_record(record.time) {
            self.assembly.detached(self.times.of(record.time), file);
        }
        self.taken_until = self.taken_until.max(record.time);
        let owner = self.containers.of_record(record, payload);
        self.assembly.take(self.times.of(record.time), record, payload, owner)
    }

    /// Notes that all changes until `now` have arrived, and that no record is left.
    pub(in crate::tap::probe) fn found_empty(&mut self, now: u64) {
        self.apply_changes(u64::MAX);
        for file in self.detached.with_empty_ring(now) {
            self.assembly.detached(self.times.of(now), file);
        }
        self.taken_until = self.taken_until.max(now);
    }

    /// Gives up everything that has waited too long. The time up to which records were taken counts as now, since the awaited
    /// record may still be in a ring.
    pub(in crate::tap::probe) fn expire(&mut self) {
        let taken = self.times.of(self.taken_until);
        self.assembly.release_overdue(taken);
        self.assembly.expire(taken);
    }

    /// No more records will come.
    pub(in crate::tap::probe) fn finish(&mut self, at: Timestamp) {
        self.assembly.finish(at);
    }

    /// Notes that the API servers are at these addresses from now on.
    pub(in crate::tap::probe) fn readdress(&mut self, servers: BTreeMap<SocketAddr, UpstreamId>) {
        self.assembly.readdress(servers);
    }

    /// The assembly, for its counters of unplaced data.
    pub(in crate::tap::probe) const fn assembly(&self) -> &Assembly {
        &self.assembly
    }

    /// A process, with the owner of its cgroup if that is known.
    pub(in crate::tap::probe) fn owned(&mut self, process: Process) -> Process {
        let owner = self.containers.of_process(process.pid, process.started);
        process.owned_by(owner)
    }

    /// The containers of clients, for their counter of ignored log folders.
    pub(in crate::tap::probe) const fn containers(&self) -> &Containers {
        &self.containers
    }

    fn bound_changes(&mut self) {
        if self.changes.are_too_many() {
            self.apply_changes(u64::MAX);
        }
    }

    /// Applies the changes before a time, in order.
    fn apply_changes(&mut self, before: u64) {
        while let Some(change) = self.changes.next(before) {
            match change {
                Change::FieldRecording(FieldRecording { process, is_on, .. }) => self.assembly.record_fields(process, is_on),
                Change::Ended(event) if event.kind == LifetimeKind::Exit as u32 => {
                    self.assembly.exited(self.times.of(event.time), event.process);
                }
                Change::Ended(event) => self.assembly.socket_changed(self.times.of(event.time), &event),
            }
        }
    }
}
