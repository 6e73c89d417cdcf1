//! Tests of each row on synthetic machines.

use super::machine::Machine;
use super::requirements::requirements;
use super::trial::{Step, Trial};
use crate::probe_check_result::{ProbeCheck, Requirement, RequirementState};
use crate::tap::probe::find::namespace::{INITIAL_PID_NAMESPACE, INITIAL_USER_NAMESPACE};
use crate::tap::probe::kernel::{AttachBy, PairBy};
use crate::tap::probe::limit;

/// A machine that lacks nothing, as root.
fn sound() -> Machine {
    Machine {
        release: "6.18.44".to_owned(),
        architecture: "x86_64".to_owned(),
        description: Ok(()),
        status: status(0, &[2, 19, 21, 38, 39, 40]),
        user_namespace: Some(INITIAL_USER_NAMESPACE),
        pid_namespace: Some(INITIAL_PID_NAMESPACE),
        lockdown: Ok("none [integrity] confidentiality".to_owned()),
        perf_event_paranoid: Ok("4".to_owned()),
        unprivileged_bpf_disabled: Ok("2".to_owned()),
        mounts: "proc /proc proc rw 0 0\n".to_owned(),
        pod_logs: Some(Ok(())),
        trial: Trial {
            programs: Step::Works,
            uprobes: Step::Works,
            processes: Step::Works,
            sockets: Step::Works,
            pairing: Step::Works,
            attached_by: Some(AttachBy::MultiLink),
            paired_by: Some(PairBy::Tracepoints),
        },
    }
}

fn status(user: u32, capabilities: &[u32]) -> String {
    let effective = capabilities.iter().fold(0_u64, |all, capability| all | 1 << capability);
    format!("Name:\twatchtap\nUid:\t{user}\t{user}\t{user}\t{user}\nCapEff:\t{effective:016x}\n")
}

fn refused() -> Step {
    Step::Refused("the kernel refuses\nand why, on pages".to_owned())
}

fn row<'r>(rows: &'r [Requirement], name: &str) -> &'r Requirement {
    rows.iter().find(|row| row.name.contains(name)).unwrap()
}

fn check(machine: &Machine) -> ProbeCheck {
    ProbeCheck { requirements: requirements(machine), files: Vec::new(), not_examined: Vec::new() }
}

/// Checks the state of one row, and that all others are as on a sound machine.
#[track_caller]
fn assert_row(name: &str, expected: RequirementState, change: impl FnOnce(&mut Machine)) -> Requirement {
    let mut machine = sound();
    change(&mut machine);
    let (rows, usual) = (requirements(&machine), requirements(&sound()));
    let changed: Vec<&str> =
        rows.iter().zip(&usual).filter(|(row, usual)| row.state != usual.state).map(|(row, _)| row.name).collect();
    let found = row(&rows, name);
    assert_eq!(found.state, expected, "{found:?}");
    let is_as_usual = expected == row(&usual, name).state;
    assert_eq!(changed, if is_as_usual { vec![] } else { vec![found.name] });
    let needs_remedy = expected >= RequirementState::Limits;
    assert_eq!(found.remedy.is_some(), needs_remedy, "{found:?}");
    assert_eq!(found.unseen.is_some(), expected == RequirementState::Limits, "{found:?}");
    found.clone()
}

#[test]
fn sound_machine_meets_all_relevant_requirements() {
    let check = check(&sound());
    assert!(check.can_probe());
    for row in &check.requirements {
        assert!(matches!(row.state, RequirementState::Met | RequirementState::DoesNotMatter), "{row:?}");
        assert_eq!((&row.unseen, &row.remedy), (&None, &None), "{row:?}");
    }
}

#[test]
fn kernel_is_judged_by_its_release_or_working_uprobes() {
    use RequirementState::{Met, Missing, Unknown};
    for (release, uprobes, expected) in [
        ("6.6.0-rc1+", Step::NotTried, Met),
        ("7.0", Step::NotTried, Met),
        ("10.1.2", Step::NotTried, Met),
        ("5.10.0-46-amd64", Step::NotTried, Met),
        ("5.9.13-generic", Step::NotTried, Missing),
        ("4.18.0-553.el8_10.x86_64", Step::NotTried, Missing),
        ("4.18.0-553.el8_10.x86_64", Step::Works, Met),
        ("", Step::NotTried, Unknown),
        ("mine", Step::Works, Met),
    ] {
        let trial = Trial { uprobes, ..sound().trial };
        let rows = requirements(&Machine { release: release.to_owned(), trial, ..sound() });
        assert_eq!(row(&rows, "Linux 5.10").state, expected, "{release}");
    }
}

#[test]
fn each_property_of_the_machine_has_its_row() {
    use RequirementState::{DoesNotMatter, Limits, Met, Missing, Unknown};
    assert_row("architecture", Missing, |machine| machine.architecture = "riscv64".to_owned());
    assert_row("architecture", Met, |machine| machine.architecture = "aarch64".to_owned());
    let row = assert_row("BTF", Missing, |machine| machine.description = Err("no struct sock".to_owned()));
    assert_eq!(row.found, "no struct sock");
    assert_row("lockdown", Missing, |machine| machine.lockdown = Ok("none integrity [confidentiality]".to_owned()));
    assert_row("lockdown", Met, |machine| machine.lockdown = Ok("[none] integrity confidentiality".to_owned()));
    assert_row("lockdown", Met, |machine| machine.lockdown = Err("there is none".to_owned()));
    assert_row("user namespace", Unknown, |machine| machine.user_namespace = None);
    assert_row("PID namespace", Limits, |machine| machine.pid_namespace = Some(7));
    assert_row("PID namespace", Unknown, |machine| machine.pid_namespace = None);
    let row = assert_row("tracefs", DoesNotMatter, |machine| machine.mounts.push_str("nodev /sys/kernel/tracing tracefs rw 0 0\n"));
    assert!(row.found.starts_with("mounted"), "{row:?}");
    assert_row("perf_event_paranoid", DoesNotMatter, |machine| machine.perf_event_paranoid = Err("it is not there".to_owned()));
    assert_row("unprivileged_bpf", DoesNotMatter, |machine| machine.unprivileged_bpf_disabled = Ok("0".to_owned()));
}

#[test]
fn unreadable_lockdown_is_unknown_where_no_program_is_loaded() {
    let trial = Trial { programs: refused(), ..sound().trial };
    let rows = requirements(&Machine { lockdown: Err("there is none".to_owned()), trial, ..sound() });
    assert_eq!(row(&rows, "lockdown").state, RequirementState::Unknown);
}

#[test]
fn each_missing_capability_is_distinguished() {
    use RequirementState::{Limits, Met, Missing};
    for (capabilities, expected) in [
        (&[38, 39, 19, 2, 40][..], [Met, Met, Met, Met, Met]),
        (&[38, 39, 19, 2], [Met, Met, Met, Met, Limits]),
        (&[38, 39, 19], [Met, Met, Met, Limits, Limits]),
        (&[38, 39], [Met, Met, Limits, Limits, Limits]),
        (&[39], [Met, Missing, Limits, Limits, Limits]),
        (&[38], [Missing, Met, Limits, Limits, Limits]),
        (&[21], [Met, Met, Limits, Limits, Met]),
        (&[], [Missing, Missing, Limits, Limits, Limits]),
    ] {
        let machine = Machine { status: status(65_534, capabilities), ..sound() };
        let check = check(&machine);
        let names = ["CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH", "CAP_CHECKPOINT_RESTORE"];
        assert_eq!(names.map(|name| row(&check.requirements, name).state), expected, "{capabilities:?}");
        assert_eq!(check.can_probe(), !expected.contains(&Missing), "{capabilities:?}");
        for row in check.requirements.iter().filter(|row| row.state >= Limits) {
            assert!(row.found.contains("user 65534") && row.remedy.is_some(), "{row:?}");
        }
    }
}

#[test]
fn capabilities_of_another_user_namespace_do_not_count() {
    let rows = requirements(&Machine { user_namespace: Some(7), ..sound() });
    for name in ["user namespace", "CAP_BPF", "CAP_PERFMON"] {
        assert_eq!(row(&rows, name).state, RequirementState::Missing, "{name}");
    }
    assert_eq!(row(&rows, "CAP_SYS_PTRACE").state, RequirementState::Limits);
}

#[test]
fn unreadable_capabilities_are_not_reported_as_missing() {
    let rows = requirements(&Machine { status: String::new(), ..sound() });
    for name in ["CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH", "CAP_CHECKPOINT_RESTORE"] {
        assert_eq!(row(&rows, name).state, RequirementState::Unknown, "{name}");
    }
}

#[test]
fn kernel_refusal_is_reported_by_its_first_line() {
    use RequirementState::{Limits, Missing};
    let rows = [
        assert_row("are loaded", Missing, |machine| machine.trial.programs = refused()),
        assert_row("uprobes", Missing, |machine| machine.trial.uprobes = refused()),
        assert_row("sched_process_exec", Missing, |machine| machine.trial.processes = refused()),
        assert_row("inet_sock_set_state", Limits, |machine| machine.trial.sockets = refused()),
        assert_row("sends and receives", Limits, |machine| machine.trial.pairing = refused()),
    ];
    assert!(rows.iter().all(|row| row.found == "the kernel refuses"), "{rows:?}");
    assert_eq!(rows.map(|row| row.unseen), [None, None, None, Some(limit::NO_ENDS), Some(limit::UNPAIRED)]);
}

#[test]
fn steps_after_a_failed_one_are_reported_not_tried() {
    let trial = Trial {
        programs: refused(),
        uprobes: Step::NotTried,
        processes: Step::NotTried,
        sockets: Step::NotTried,
        pairing: Step::NotTried,
        attached_by: None,
        paired_by: None,
    };
    let check = check(&Machine { trial, ..sound() });
    assert!(!check.can_probe());
    for name in ["uprobes", "sched_process_exec", "inet_sock_set_state", "sends and receives"] {
        let row = row(&check.requirements, name);
        assert_eq!((row.state, row.found.starts_with("not tried")), (RequirementState::Unknown, true), "{row:?}");
    }
}

#[test]
fn names_of_pods_take_the_folder_of_their_logs() {
    assert_row("logs of pods", RequirementState::DoesNotMatter, |machine| machine.pod_logs = None);
    let denied = Some(Err("Permission denied (os error 13)".to_owned()));
    let row = assert_row("logs of pods", RequirementState::Limits, |machine| machine.pod_logs = denied);
    assert!(row.remedy.unwrap().contains("--pod-logs"));
}

#[test]
fn locked_memory_is_a_remedy_before_5_11() {
    for (release, capabilities, is_asked_for) in
        [("5.10.0", &[38, 39][..], true), ("5.10.0", &[24, 38, 39], false), ("5.10.0", &[38], false), ("5.11.0", &[38, 39], false)]
    {
        let trial = Trial { programs: refused(), ..sound().trial };
        let rows = requirements(&Machine { release: release.to_owned(), status: status(1, capabilities), trial, ..sound() });
        let row = row(&rows, "programs are loaded");
        assert_eq!(row.remedy.as_deref().unwrap().contains("CAP_SYS_RESOURCE"), is_asked_for, "{row:?}");
    }
}

#[test]
fn way_of_attaching_is_reported_and_perf_events_take_an_administrator() {
    let trial = Trial { attached_by: Some(AttachBy::EventCopies), paired_by: Some(PairBy::Returns), ..sound().trial };
    let rows = requirements(&Machine { trial, ..sound() });
    assert_eq!(row(&rows, "uprobes").found, "by perf events with copies of the programs");
    assert!(row(&rows, "sends and receives").found.contains("tcp_sendmsg"));
    for (release, capabilities, is_asked_for) in
        [("6.1.0", &[38, 39][..], true), ("6.1.0", &[21], false), ("6.18.0", &[38, 39], false)]
    {
        let trial = Trial { programs: Step::NotTried, uprobes: refused(), attached_by: None, ..sound().trial };
        let rows = requirements(&Machine { release: release.to_owned(), status: status(1, capabilities), trial, ..sound() });
        let row = row(&rows, "uprobes");
        assert_eq!(row.state, RequirementState::Missing, "{row:?}");
        assert_eq!(row.remedy.as_deref().unwrap().contains("CAP_SYS_ADMIN"), is_asked_for, "{row:?}");
    }
}
