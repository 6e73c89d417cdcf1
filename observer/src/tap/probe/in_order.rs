//! What came from the kernel by several ways, told to the assembly in the order in which it came about.

use observer_core::time::Timestamp;
use observer_ebpf::{Life, LifeKind, Record};

use super::assembly::{Answer, Assembly};
use super::changes::{Change, Changes};
use super::containers::Containers;
use super::kernel_clock::Times;
use super::left_files::LeftFiles;
use super::orders::Explained;

/// The assembly, and what waits until its turn comes. All times of the kernel's clock.
#[derive(Debug)]
pub(super) struct InOrder {
    times: Times,
    assembly: Assembly,
    containers: Containers,
    /// What was recorded before them comes first.
    changes: Changes,
    left: LeftFiles,
    /// All records until then were taken, but for those whose programs were interrupted.
    taken_until: u64,
}

impl InOrder {
    pub(super) fn new(times: Times, assembly: Assembly) -> Self {
        Self {
            times,
            assembly,
            containers: Containers::new(),
            changes: Changes::default(),
            left: LeftFiles::default(),
            taken_until: 0,
        }
    }

    /// The clocks are as `now` says.
    pub(super) fn look_at_clocks(&mut self, now: Times) {
        self.times = self.times.again(now);
    }

    /// A process or a socket ended, or began to.
    pub(super) fn ended(&mut self, life: Life) {
        self.changes.ended(life);
        self.bound_changes();
    }

    /// A file is probed no more, and nothing was recorded of it after `at`.
    pub(super) fn left(&mut self, file: u16, at: u64) {
        self.left.add(file, at);
    }

    /// Header fields of a process are told from now on, or not any more.
    pub(super) fn explain(&mut self, explained: Explained) {
        self.changes.explain(explained);
        self.bound_changes();
    }

    /// Takes the next record, behind the changes that came before it and the files of which nothing comes behind it: a connection that begins may have the socket
    /// and the place in memory of one that has ended, and its file the number of one that was left.
    pub(super) fn take(&mut self, record: &Record, payload: &[u8]) -> Answer {
        self.tell_of_changes(record.time);
        for file in self.left.before_record(record.time) {
            self.assembly.leave(self.times.of(record.time), file);
        }
        self.taken_until = self.taken_until.max(record.time);
        let container = self.containers.of_record(record, payload);
        self.assembly.take(self.times.of(record.time), record, payload, container)
    }

    /// No record was left after all changes until `now` were told.
    pub(super) fn found_empty(&mut self, now: u64) {
        self.tell_of_changes(u64::MAX);
        for file in self.left.with_empty_ring(now) {
            self.assembly.leave(self.times.of(now), file);
        }
        self.taken_until = self.taken_until.max(now);
    }

    /// Gives up what has waited for too long. It is as late as what was taken last: what is in the rings yet has not been waited for.
    pub(super) fn pass(&mut self) {
        let taken = self.times.of(self.taken_until);
        self.assembly.look(taken);
        self.assembly.pass(taken);
    }

    /// Nothing more will come.
    pub(super) fn finish(&mut self, at: Timestamp) {
        self.assembly.finish(at);
    }

    /// What counts what could not be put together.
    pub(super) const fn assembly(&self) -> &Assembly {
        &self.assembly
    }

    fn bound_changes(&mut self) {
        if self.changes.are_too_many() {
            self.tell_of_changes(u64::MAX);
        }
    }

    /// Tells of the changes before a time, in their order.
    fn tell_of_changes(&mut self, before: u64) {
        while let Some(change) = self.changes.next(before) {
            match change {
                Change::Explained(Explained { process, is_told, .. }) => self.assembly.explain(process, is_told),
                Change::Ended(life) if life.kind == LifeKind::Exit as u32 => {
                    self.assembly.exited(self.times.of(life.time), life.process);
                }
                Change::Ended(life) => self.assembly.socket_changed(self.times.of(life.time), &life),
            }
        }
    }
}
