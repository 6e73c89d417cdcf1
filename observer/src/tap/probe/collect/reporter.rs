//! Reports programs that the probe does not see and records that it missed, as notices.

use observer_core::observation::ProbeMissed;
use observer_core::series::ProbeFiles;
use observer_ebpf::Loss;

use crate::intake::{Intake, Notice};
use crate::tap::Clock;
use crate::tap::probe::assembly::Assembly;
use crate::tap::probe::kernel::Recorded;

/// Reports to the intake what the probe does not see.
#[derive(Debug)]
pub(in crate::tap::probe) struct Reporter {
    intake: Intake,
    clock: Clock,
    missed: ProbeMissed,
}

impl Reporter {
    pub(in crate::tap::probe) fn new(intake: Intake, clock: Clock) -> Self {
        Self { intake, clock, missed: ProbeMissed::default() }
    }

    /// Reports that the connections of a program or library are not seen.
    pub(in crate::tap::probe) fn not_probed(&self, file: &str, why: &str) {
        self.intake.notice(Notice::NotProbed { at: self.clock.now(), file: file.to_owned(), why: why.to_owned() });
    }

    /// Notes how many files are probed.
    pub(in crate::tap::probe) fn files(&self, files: ProbeFiles) {
        self.intake.note_probe_files(files);
    }

    /// Takes the totals of missed records, and reports the increase since the last call, if any.
    pub(in crate::tap::probe) fn missed(&mut self, until_now: ProbeMissed) {
        let increase = until_now.since(&self.missed);
        self.missed = until_now;
        if !increase.is_none() {
            self.intake.notice(Notice::ProbeMissed { at: self.clock.now(), missed: increase });
        }
    }
}

/// The totals of data that the programs missed or the assembly could not place.
pub(in crate::tap::probe) fn missed(recorded: &Recorded, assembly: &Assembly) -> ProbeMissed {
    ProbeMissed {
        records: recorded.lost(Loss::NoRoom),
        bytes: recorded.lost(Loss::NoRoomBytes),
        unreadable: recorded.lost(Loss::Unreadable),
        beyond_largest_call: recorded.lost(Loss::BeyondLargestCall),
        calls: recorded.lost(Loss::EntryNotSeen),
        calls_without_room: recorded.lost(Loss::CallNotKept),
        connections: recorded.lost(Loss::ConnectionNotKept),
        sockets: recorded.lost(Loss::SocketNotKnown),
        lifetimes: recorded.lost(Loss::LifetimeNoRoom),
        unused_fields: assembly.unused_fields(),
        contradicted: recorded.lost(Loss::SocketContradicted),
        unplaced: assembly.unplaced(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::intake::{Delivery, IntakeLimits};

    #[test]
    fn missed_records_are_reported_once() {
        let (intake, mut receiver) = Intake::new(IntakeLimits::default());
        let mut reporter = Reporter::new(intake, Clock::start());
        for records in [0, 3, 3, 5] {
            reporter.missed(ProbeMissed { records, calls: 1, ..ProbeMissed::default() });
        }
        let reports = receiver.drain(Duration::ZERO).filter_map(|delivered| {
            let Delivery::Notice(Notice::ProbeMissed { missed, .. }) = delivered.delivery else { return None };
            Some((missed.records, missed.calls))
        });
        assert_eq!(reports.collect::<Vec<_>>(), [(0, 1), (3, 0), (2, 0)]);
    }
}
