//! Tests of the standard script and of invalid scripts, as a user of `watchtap demo` sees them.

use std::fs;
use std::time::Duration;

use observer_tests::{output_within, watchtap};
use serde_json::Value;

use super::played::Played;

const LIMIT: Duration = Duration::from_secs(20);
/// Number of lists, 13 s apart, after which a client counts as a poller.
const POLLS_OF_A_POLLER: u32 = 5;

#[test]
fn standard_script_shows_every_promised_behaviour() {
    let played = Played::start(None, 5);
    let mut missing = vec!["expired relist", "streaming list", "storm", "resume", "stuck reflector", "slow reader"];
    let mut polls = 0;
    while !missing.is_empty() || polls < POLLS_OF_A_POLLER {
        let event = played.event();
        polls += u32::from(event["event"] == "request" && event["client"]["program"] == "alert-mailer/1.2");
        let seen = match event["event"].as_str().unwrap_or_default() {
            "relist" if event["cause"]["name"] == "expired" => "expired relist",
            "watch-opened" if event["list_options"]["send_initial_events"] == true => "streaming list",
            "stalled" => {
                assert_eq!((&event["client"]["program"], &event["by"]), (&"archive-tail/0.1".into(), &"stream-window".into()));
                "slow reader"
            }
            "storm-began" => {
                assert_eq!(event["trigger"], "api-server-restart", "{event}");
                "storm"
            }
            "resume" => "resume",
            "stuck" => {
                assert_eq!(event["client"]["program"], "node-tuner/v0.4.2");
                "stuck reflector"
            }
            _other => continue,
        };
        missing.retain(|one| *one != seen);
    }
    let report = played.report();
    let pollers = report["reflectors"].as_array().unwrap().iter().filter(|row| !row["polling"].is_null());
    let pollers: Vec<&Value> = pollers.map(|row| &row["client"]["program"]).collect();
    assert!(pollers.contains(&&"alert-mailer/1.2".into()), "{pollers:?}");
    let members = report["storms"].as_array().unwrap().iter().flat_map(|storm| storm["members"].as_array().unwrap());
    let programs: Vec<&Value> = members.map(|member| &member["client"]["program"]).collect();
    for old in ["old-ingress/v0.26.1", "log-shipper/v1.3.0", "disk-provisioner/v2.1.0"] {
        assert!(programs.contains(&&old.into()), "{old} of {programs:?}");
    }
}

/// The problems in the standard script, as the report must show them: the change to make, the clients to change, and the symptom.
/// The script also compacts etcd, which no client notices.
const FAULTS: &[(&str, &[&str], &str)] = &[
    ("API server refused connections", &[], "watchtap refused its clients, too"),
    ("in archive-tail, move other work out of the loop that reads the watch", &[], "no events of configmaps were read for"),
    ("restart", &["mesh-operator"], "for a revision that the API server ha"),
    ("update client-go", &["node-tuner", "to 1.18.6 or later"], "stuck for"),
    ("update client-go", &["old-ingress", "log-shipper", "disk-provisioner", "to 1.16 or later"], "needless relists"),
    ("find out why the API server restarted, or why its watch cache was reset", &["configmaps", "pods"], "relists of"),
    ("watch instead of polling", &["dashboard", "cost-exporter", "alert-mailer"], "lists of events and pods, no watch"),
    ("check whether etcd was restored", &[], "resourceVersion went backwards"),
];

/// Plays the script once, until shortly before the slow reader disconnects.
#[test]
fn standard_demo_report_starts_with_each_scripted_fault() {
    const SPEED: u32 = 2;
    const POLLS_UNTIL_THEN: usize = 28;
    let played = Played::with_report(None, SPEED, "text");
    played.asked("dashboard/2.1", POLLS_UNTIL_THEN);
    let report = played.report_as_written();
    let first: Vec<&str> = report.lines().take(24).collect();
    for (change, clients, wrong) in FAULTS {
        let is_of_it =
            |line: &&&str| line.contains(change) && line.contains(wrong) && clients.iter().all(|client| line.contains(client));
        let named: Vec<&&str> = first.iter().filter(is_of_it).collect();
        let [line] = named[..] else { panic!("{change}, {clients:?}: {named:?} in\n{report}") };
        assert!(line.chars().any(|character| character.is_ascii_digit()), "without a number: {line}");
    }
    let lines = report.lines().count();
    assert!(lines <= 155, "{lines} lines\n{report}");
    let findings = report.lines().skip_while(|line| *line != "FINDINGS");
    assert!(findings.clone().count() > FAULTS.len(), "{report}");
    let longest = findings.max_by_key(|line| line.chars().count()).unwrap_or_default();
    assert!(longest.chars().count() <= 201, "{longest}");
}

#[test]
fn unreadable_script_is_a_usage_error_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.script");
    fs::write(&file, "0s wait\n1s restrat for=3s\n").unwrap();
    for (file, expected) in
        [(file, "mine.script:2: unknown action \"restrat\"; allowed here: answer, "), (folder.path().join("none"), "No such file")]
    {
        let output = output_within(watchtap().unwrap().args(["demo", "--script"]).arg(file), LIMIT).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn list_flag_shows_the_script_syntax_and_the_standard_script_parses() {
    let stdout = |flag: &str| {
        let output = output_within(watchtap().unwrap().args(["demo", flag]), LIMIT).unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let (list, standard) = (stdout("--list"), stdout("--print-script"));
    for word in ["start KIND NAME", "restore for=TIME", "slow-reader NAME"] {
        assert!(list.contains(word), "{list}");
    }
    let script = observer_demo::Script::parse("printed", &standard).unwrap();
    assert_eq!(script, observer_demo::Script::standard().unwrap());
}
