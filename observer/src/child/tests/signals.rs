//! Tests of signals that arrive while the command runs.

use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};

use super::supervised::{Start, Supervised};
use crate::child::origin::{Circumstances, is_forwarded};
use crate::signals::{Ignored, Sender};

#[test]
fn signal_sent_to_watchtap_alone_reaches_the_command_once() {
    let supervised =
        Supervised::start("child::tests::signals::signal_sent_to_watchtap_alone_reaches_the_command_once", Start::Plain);
    for (signal, name) in
        [(Signal::TERM, "TERM"), (Signal::INT, "INT"), (Signal::HUP, "HUP"), (Signal::QUIT, "QUIT"), (Signal::USR2, "USR2")]
    {
        supervised.send(signal);
        supervised.expect(name);
    }
    supervised.ends();
}

#[test]
fn terminal_key_signal_reaches_the_command_once() {
    let mut supervised =
        Supervised::start("child::tests::signals::terminal_key_signal_reaches_the_command_once", Start::AtTerminal);
    supervised.types("\x03");
    supervised.expect("INT");
    supervised.types("\x1c");
    supervised.expect("QUIT");
    supervised.ends();
}

#[test]
fn terminal_hangup_reaches_the_command_through_the_session_leader() {
    let mut supervised = Supervised::start(
        "child::tests::signals::terminal_hangup_reaches_the_command_through_the_session_leader",
        Start::AtTerminal,
    );
    supervised.hangs_up();
    supervised.expect("HUP");
    supervised.ends();
}

#[test]
fn command_inherits_ignored_signals() {
    let supervised = Supervised::start("child::tests::signals::command_inherits_ignored_signals", Start::WithoutHangups);
    supervised.send(Signal::HUP);
    supervised.send(Signal::TERM);
    supervised.expect("TERM");
    supervised.ends();
}

#[test]
fn sender_decides_whether_a_signal_is_forwarded() {
    let command = Pid::from_raw(100);
    let own = Pid::from_raw(99).unwrap();
    let follows = Circumstances { command, own, leads_session: false };
    let leads = Circumstances { command, own, leads_session: true };
    for (signal, sender, circumstances, expected) in [
        (SIGTERM, Sender::Process(Pid::from_raw(7)), follows, true),
        (SIGTERM, Sender::Process(None), follows, true),
        (SIGTERM, Sender::Process(command), follows, false),
        (SIGINT, Sender::Process(Some(own)), follows, false),
        (SIGINT, Sender::Kernel, follows, false),
        (SIGINT, Sender::Kernel, leads, false),
        (SIGHUP, Sender::Kernel, follows, false),
        (SIGHUP, Sender::Kernel, leads, true),
        (SIGQUIT, Sender::Kernel, leads, false),
        (SIGALRM, Sender::Kernel, follows, true),
        (SIGXCPU, Sender::Kernel, follows, true),
        (SIGTERM, Sender::Other, leads, false),
    ] {
        assert_eq!(is_forwarded(signal, sender, circumstances), expected, "{signal} {sender:?} {circumstances:?}");
    }
}

#[test]
fn ignored_signals_are_parsed_from_proc_status() {
    let ignored = Ignored::parse("Name:\tx\nSigBlk:\tffffffffffffffff\nSigIgn:\t8000000000000003\nSigCgt:\tffffffffffffffff\n");
    assert_eq!((1..=64).filter(|signal| ignored.contains(*signal)).collect::<Vec<_>>(), [1, 2, 64]);
    for nothing in ["", "SigIgn:", "SigIgn:\tx", "SigIgn:\t0"] {
        assert!((i32::MIN..=i32::MIN + 1).chain(-1..70).all(|signal| !Ignored::parse(nothing).contains(signal)), "{nothing}");
    }
}
