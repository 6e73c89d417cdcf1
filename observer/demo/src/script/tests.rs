//! Tests of parsing scripts: the steps, and the lines that errors name.

use std::time::Duration;

use super::reference::{ACTS, KINDS};
use super::*;
use crate::client_go::ClientGo;

#[test]
fn lines_become_steps_in_order() {
    let script = parse(
        "# a comment\n\n  0s print look  here\n1500ms start reflectors a/1 client-go=1.18.2 watches=pods,jobs\nrepeat\n0s backup\n2s stop a/1\n1m restore for=3s\n",
    )
    .unwrap();
    let reflectors = Role::Reflectors { client_go: ClientGo::V1_18_2, resources: vec![resource("pods"), resource("jobs")] };
    let start = Act::Start(Actor { name: "a/1".to_owned(), role: reflectors });
    assert_eq!(
        script.once,
        [
            step(0, "print look here", Act::Print("look  here".to_owned())),
            step(1500, "start reflectors a/1 client-go=1.18.2 watches=pods,jobs", start)
        ]
    );
    let restore = Act::Restore { down_for: Duration::from_secs(3) };
    let stop = Act::Stop("a/1".to_owned());
    let round = [step(0, "backup", Act::Backup), step(2000, "stop a/1", stop), step(60_000, "restore for=3s", restore)];
    assert_eq!(script.round, round);
}

#[test]
fn every_act_and_client_kind_is_parsed() {
    let examples = [
        "print look",
        "start reflectors a/1 client-go=1.15 watches=pods",
        "stop a/1",
        "expire pods",
        "end-watches every=5s for=1m",
        "deaf pods for=10s",
        "answer 429 for=10s",
        "no-bookmarks for=10s",
        "no-list-end for=10s",
        "slow 64kB for=10s",
        "restart for=3s",
        "compact",
        "backup",
        "rewind",
        "restore for=3s",
        "wait",
    ];
    let kinds = [
        "reflectors a/1 client-go=1.36 watches=pods,services",
        "watcher a/1 watches=pods",
        "controller a/1 watches=configmaps",
        "rollouts a/1",
        "poller a/1 lists=pods every=5s resourceVersion=0",
        "pager a/1 lists=pods every=5s page=50",
        "changer a/1 every=1s",
        "writer a/1 every=1s kib=64",
        "slow-reader a/1 watches=pods",
    ];
    parse("0s end-watches").unwrap();
    parse(&examples.map(|act| format!("0s {act}")).join("\n")).unwrap();
    for kind in kinds {
        parse(&format!("0s start {kind}")).unwrap();
    }
    let first_words = |lines: &[&str]| lines.iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>();
    let shown = |rows: &[(&str, &str)]| first_words(&rows.iter().map(|(usage, _)| *usage).collect::<Vec<_>>());
    assert_eq!((first_words(&examples), first_words(&kinds)), (shown(ACTS), shown(KINDS)), "--list names what can be read");
}

#[test]
fn script_errors_name_the_line_and_the_allowed_words() {
    for (text, expected) in [
        ("", "s:1: nothing happens in this script"),
        ("# only this", "s:1: nothing happens in this script"),
        ("0s wait\n\n5s", "s:3: a line is a time and an action, or repeat"),
        ("soon wait", "s:1: \"soon\" is no time; a time is 400ms, 5s or 1m30s"),
        (&"long".repeat(20), "s:1: a line is a time and an action, or repeat"),
        (&format!("{} wait", "long".repeat(20)), "s:1: \"longlonglonglonglonglong\"… is no time; a time is 400ms, 5s or 1m30s"),
        ("2h wait", "s:1: 2h is longer than an hour"),
        ("5s wait\n4s wait", "s:2: 4s is before 5s, the time of the line above"),
        ("0s print", "s:1: print needs a text"),
        ("0s wait long", "s:1: \"long\" is no option; an option is name=value"),
        ("0s backup to=disk", "s:1: unknown option \"to\"; allowed here: none"),
        ("0s restart", "s:1: for= is missing"),
        ("0s restart for=3s for=4s", "s:1: \"for\" is given twice"),
        ("0s restart for=3s at=once", "s:1: unknown option \"at\"; allowed here: for"),
        ("0s restore for=3s", "s:1: there is no backup; a backup has to stand above"),
        ("0s stop a/1", "s:1: a/1 is not there; only what was started above can be stopped"),
        ("0s start poller", "s:1: the client's name is missing"),
        ("0s start rollouts a(1)", "s:1: \"a(1)\" is no name; a name is name/version, such as mesh-agent/1.9"),
        ("0s start poller a/1 lists=pods every=1ms", "s:1: every= is at least 100ms"),
        (
            "0s start poller a/1 lists=pods every=1s resourceVersion=7",
            "s:1: resourceVersion=\"7\" is not 0, which is all that is allowed here",
        ),
        ("0s start pager a/1 lists=pods every=1s page=0", "s:1: page=\"0\" is no number from 1 to 500"),
        (
            "0s start reflectors a/1 client-go=1.17 watches=pods",
            "s:1: unknown release of client-go \"1.17\"; allowed here: 1.15, 1.18.2, 1.34, 1.36",
        ),
        ("0s wait\nrepeat\n0s wait", "s:3: a round takes a second at least; end it with a line such as \"60s wait\""),
        ("repeat\n1s wait\nrepeat", "s:3: repeat stands twice; what is behind the first is repeated to the end"),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text:?}");
    }
    for (text, begins, names) in [
        ("0s restrat", "s:1: unknown action \"restrat\"; allowed here: ", ACTS.iter().map(|(usage, _)| *usage).collect::<Vec<_>>()),
        (
            "0s start informer a/1",
            "s:1: unknown kind of client \"informer\"; allowed here: ",
            KINDS.iter().map(|(usage, _)| *usage).collect(),
        ),
        ("0s expire widgets", "s:1: unknown resource \"widgets\"; allowed here: ", vec!["pods", "configmaps"]),
    ] {
        let said = parse(text).unwrap_err().to_string();
        let allowed: Vec<&str> = said.strip_prefix(begins).unwrap_or_else(|| panic!("{said}")).split(", ").collect();
        for name in names {
            assert!(allowed.contains(&name.split(' ').next().unwrap()), "{said}: {name}");
        }
    }
}

#[test]
fn scripts_are_bounded() {
    for (text, expected) in [
        ("# line\n".repeat(501), "s:501: the script is longer than 500 lines"),
        ("#".repeat(65_537), "s:1: the script has 65537 bytes; at most 65536 are allowed"),
        (lines(65, |number| format!("0s start rollouts a/{number}")), "s:65: more than 64 clients"),
        (
            format!("0s start reflectors a/1 client-go=1.15 watches={}", vec!["pods"; 17].join(",")),
            "s:1: 17 reflectors of one client; at most 16 are allowed",
        ),
        (
            lines(17, |number| format!("0s start reflectors a/{number} client-go=1.15 watches={}", vec!["pods"; 16].join(","))),
            "s:17: more than 256 reflectors",
        ),
    ] {
        assert_eq!(parse(&text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn standard_script_starts_all_storm_clients_within_two_minutes() {
    let script = Script::standard().unwrap();
    let steps = || script.once.iter().chain(&script.round);
    let clients = || steps().filter_map(|step| if let Act::Start(actor) = &step.act { Some(&actor.role) } else { None });
    let reflectors = |release: ClientGo| {
        let of = |role: &Role| match role {
            Role::Reflectors { client_go, resources } if *client_go == release => resources.len(),
            Role::Reflectors { .. }
            | Role::Watcher { .. }
            | Role::Controller { .. }
            | Role::Rollouts
            | Role::Poller { .. }
            | Role::Pager { .. }
            | Role::Changer { .. }
            | Role::Writer { .. }
            | Role::SlowReader { .. } => 0,
        };
        clients().map(of).sum::<usize>()
    };
    assert!(reflectors(ClientGo::V1_15) >= 10, "the clients that list after each refusal make the storm alone");
    assert!(ClientGo::ALL.into_iter().all(|release| reflectors(release) > 0));
    let first = script.once.last().unwrap().at;
    let shown = script.round.iter().rfind(|step| matches!(&step.act, Act::Start(_))).unwrap().at;
    assert!(first <= Duration::from_secs(10) && first + shown < Duration::from_mins(2), "{first:?}, {shown:?}");
}

/// A client with open watches sends no request, so refusals alone would not concern it.
#[test]
fn torture_ends_watches_while_requests_are_refused() {
    let script = Script::torture().unwrap();
    let ends: Vec<Duration> =
        script.once.iter().filter(|step| matches!(step.act, Act::EndWatches(_))).map(|step| step.at).collect();
    for step in &script.once {
        if let Act::Answer { lasting, .. } = step.act {
            let refused = step.at..step.at + lasting;
            assert!(ends.iter().any(|at| refused.contains(at)), "{}", step.words);
        }
    }
}

fn parse(text: &str) -> Result<Script, ScriptError> {
    Script::parse("s", text)
}

fn lines(number: usize, line: impl Fn(usize) -> String) -> String {
    (0..number).map(line).collect::<Vec<_>>().join("\n")
}

fn resource(name: &str) -> &'static crate::api::Resource {
    options::resource(name).unwrap()
}

fn step(millis: u64, words: &str, act: Act) -> Step {
    Step { at: Duration::from_millis(millis), act, words: words.to_owned() }
}
