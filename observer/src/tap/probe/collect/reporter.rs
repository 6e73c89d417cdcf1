//! Reports programs that the probe does not see and records that it missed, as notices.

use observer_core::observation::{ProbeMissed, Process};
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

    /// Reports that a client is not seen, because a library of it cannot be probed.
    pub(in crate::tap::probe) fn unprobed_client(&self, file: &str, why: &str, client: &Process) {
        let client = words(client);
        self.not_probed(file, &format!("{why}; {client} is connected with an API server and is not seen; use the proxy for it"));
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

/// `java (PID 4711, in default/web-0)`.
fn words(Process { pid, name, container, unit, .. }: &Process) -> String {
    let place = match (container, unit) {
        (Some(container), _) => match &container.pod {
            Some(pod) => format!(", in {}/{}", pod.namespace, pod.name),
            None => format!(", in the pod with the UID {}", container.pod_uid),
        },
        (None, Some(unit)) => format!(", of {unit}"),
        (None, None) => String::new(),
    };
    format!("{name} (PID {pid}{place})")
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
        connections: recorded.lost(Loss::ConnectionNotKept).saturating_add(assembly.forgotten()),
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

    use observer_core::k8s::{Container, Pod};
    use observer_core::observation::CgroupOwner;

    use super::*;
    use crate::intake::{Delivery, IntakeLimits};

    #[test]
    fn unprobed_client_is_named_with_its_pod_or_unit() {
        let java = || Process::new(7, 100, "java".to_owned());
        let nameless = Container::nameless("12".repeat(32), "ab".repeat(16));
        let pod = Pod { namespace: "default".to_owned(), name: "web-0".to_owned(), workload: None };
        let named = Container { pod: Some(pod), ..nameless.clone() };
        for (owner, expected) in [
            (None, "java (PID 7)".to_owned()),
            (Some(CgroupOwner::Unit("app.service".to_owned())), "java (PID 7, of app.service)".to_owned()),
            (Some(CgroupOwner::Container(named)), "java (PID 7, in default/web-0)".to_owned()),
            (Some(CgroupOwner::Container(nameless)), format!("java (PID 7, in the pod with the UID {})", "ab".repeat(16))),
        ] {
            assert_eq!(words(&java().owned_by(owner)), expected);
        }
    }

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
