//! The property: no view prints a character that a terminal interprets.

use std::sync::Arc;

use observer_core::k8s::{ListOptions, RequestInfo};
use observer_core::logs::{FoundRecord, LogClock, LogRecords};
use observer_core::observation::{Body, ExchangeObservation, Observation, Subject};
use observer_core::observer::{Comparison, Excess, Faults, Limited, Limits, Observer, Quantity, Snapshot};
use observer_core::time::Timestamp;
use observer_core::verification::{Judgement, Row, Tally};
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::super::note::{finding_note, relist_note, storm_note};
use super::super::*;
use super::inert::inert;
use super::samples::{KINDS, name, observations, samples, spoiled_profile};
use super::spoiling::spoiled;
use crate::coverage::Admission;
use crate::pipeline::EventSink as _;
use crate::probe_check_result::{
    CheckedFile, CheckedLibrary, CheckedProcess, NotExamined, ProbeCheck, Requirement, RequirementState, Seen,
};
use crate::verification::Verification;

/// Characters that a terminal interprets, or does not display: controls, directions, separators, joiners, order marks, tags, selectors.
const OBEYED: &str = "\0\u{7}\u{8}\t\n\u{b}\r\u{1b}\u{7f}\u{80}\u{84}\u{85}\u{90}\u{9b}\u{9c}\u{9d}\u{9f}\u{ad}\u{61c}\u{180e}\u{200b}\u{200c}\u{200d}\
    \u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2060}\u{2061}\u{2064}\u{2066}\u{2067}\u{2068}\u{2069}\u{feff}\u{fe0f}\
    \u{e0001}\u{e0041}\u{e007f}\u{e0100}";
/// Escape sequences of watchtap itself: the tones of [`Colour`].
const TONES: &[&str] = &["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];
/// Sequences that make a terminal act.
const COMMANDS: &[&str] =
    &["\u{1b}]0;OWNED\u{7}", "\u{1b}[2J", "\u{9b}31m", "\u{1b}[31m", "\n\u{1b}]52;c;eA==\u{7}", "\r\u{1b}[K", "\u{202e}sdop"];

/// Text that Markdown or GitHub would read as markup, a link, a mention, a reference or a formula.
const MARKUP: &[&str] = &[
    "| x |",
    "`",
    "``",
    "\\|",
    "\\`",
    "**",
    "_x_",
    "~~x~~",
    "<img src=x>",
    "</code>",
    "<!--",
    "&#124;",
    "&lt;",
    "[x](http://x)",
    "![x](x)",
    "https://x.example",
    "www.x.example",
    "@octocat",
    "#1",
    "a/b#1",
    "$x$",
    "a@x.example",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn no_view_passes_on_terminal_controls(text in hostile(), which in prop::collection::vec(prop::bool::weighted(0.7), 1..23)) {
        check(&text, &which);
    }
}

#[test]
fn no_view_passes_on_terminal_controls_of_any_field() {
    check(&format!("{OBEYED}{}", COMMANDS.concat()), &[true]);
}

#[test]
fn samples_cover_every_kind_and_their_texts_are_replaced() {
    let samples = samples();
    for kind in KINDS {
        assert!(samples.iter().any(|subject| name(subject) == *kind), "no sample of {kind}");
    }
    let at = Timestamp::default();
    for subject in samples {
        let sample = Observation { at, subject };
        let spoiled = spoiled(&sample, "\u{1b}", &mut std::iter::repeat(true));
        // A version with other characters than letters and digits after its numbers is invalid.
        let is_version =
            matches!(sample.subject, Subject::Exchange(_, ExchangeObservation::BodyRead { body: Body::Version(_), .. }));
        let has_text = name(&sample.subject) != "of numbers" && !is_version;
        assert_eq!(has_text, spoiled != sample, "{sample:?}");
    }
}

#[test]
fn markup_of_strangers_stays_text_in_any_field() {
    check(&MARKUP.concat(), &[true]);
    for markup in MARKUP {
        check(markup, &[true]);
    }
}

fn hostile() -> impl Strategy<Value = String> {
    let markup = prop::sample::select(MARKUP).prop_map(str::to_owned);
    let command = prop::sample::select(COMMANDS).prop_map(str::to_owned);
    let character = prop::sample::select(OBEYED.chars().collect::<Vec<_>>()).prop_map(String::from);
    let parts =
        prop_oneof![command, markup, character, "[a-z /&=]{1,3}".prop_map(String::from), any::<char>().prop_map(String::from)];
    prop::collection::vec(parts, 1..6).prop_map(|parts| parts.concat())
}

/// Shows observations in every view, after `text` was put into some of their strings. `which` selects these strings, in a cycle.
#[track_caller]
fn check(text: &str, which: &[bool]) {
    let mut which = which.iter().copied().cycle();
    let observations: Vec<Observation> = observations().iter().map(|one| spoiled(one, text, &mut which)).collect();
    let mut observer = Observer::new(Limits::default());
    let mut sinks = [Colour::Off, Colour::On].map(|colour| (colour, LiveLines::new(Printer::to(Vec::new()), colour)));
    let mut written = Vec::new();
    let mut json = EventLines::begin(Printer::to(&mut written)).unwrap();
    for observation in observations {
        observer.observe(observation, &mut |event| {
            for (_, lines) in &mut sinks {
                lines.event(&event).unwrap();
            }
            json.event(&event).unwrap();
        });
    }
    for (colour, lines) in sinks {
        harmless(&String::from_utf8(lines.into_inner()).unwrap(), colour);
    }
    harmless(&String::from_utf8(written).unwrap(), Colour::Off);
    reports(text, &observer.snapshot());
    // A Markdown report with faults has no note.
    reports(text, &Snapshot { faults: Faults::default(), ..observer.snapshot() });
    page(text, &observer.snapshot());
    for colour in [Colour::Off, Colour::On] {
        explanations(text, colour);
        explained_lines(text, colour);
        verifications(text, colour);
        probe_checks(text, colour);
        coverages(text, colour);
    }
}

#[track_caller]
fn reports(text: &str, snapshot: &Snapshot) {
    let words = || vec![text.to_owned()];
    let excess =
        Excess { limited: Limited::Cost { resource: Some(text.to_owned()), quantity: Quantity::Bytes }, allowed: 1, used: 2 };
    let budget = Some(BudgetKept { exceeded: vec![excess], at_least: true });
    let run = Run { subcommand: "exec", command: words(), exit_code: Some(0), silence: words(), budget, log: None, notes: words() };
    let nothing = Observer::new(Limits::default()).snapshot();
    let comparison = Comparison::of(&nothing, snapshot);
    for colour in [Colour::Off, Colour::On] {
        harmless(report_text(&run, snapshot, colour).as_str(), colour);
        harmless(report_text(&run, &nothing, colour).as_str(), colour);
        harmless(comparison_text([text, text], &words(), &comparison, colour).as_str(), colour);
    }
    let findings = snapshot.findings.iter().map(|finding| finding_note(finding, snapshot));
    let storms = snapshot.storms.iter().map(|storm| storm_note(storm, snapshot));
    let relists = snapshot.reflectors.iter().filter_map(|row| row.last_relist.as_deref());
    let notes = findings.chain(storms).chain(relists.map(|list| relist_note(list, snapshot)));
    let documents = [
        report_markdown(&run, snapshot),
        report_markdown(&run, &nothing),
        comparison_markdown([text, text], &words(), &comparison),
    ];
    for document in documents.into_iter().chain(notes) {
        harmless(document.as_str(), Colour::Off);
        inert(document.as_str());
        assert!(document.as_str().lines().count() <= 60, "{}", document.as_str());
    }
    harmless(report_json(&run, snapshot).unwrap().as_str(), Colour::Off);
    harmless(comparison_json([text, text], &words(), &comparison).unwrap().as_str(), Colour::Off);
}

#[track_caller]
fn page(text: &str, snapshot: &Snapshot) {
    let snapshot = Arc::new(snapshot.clone());
    for key in "1 2 3 4 5i?/".chars() {
        for opened in [false, true] {
            let mut page = Page::new(Arc::clone(&snapshot), text, vec![text.to_owned()], Colour::On);
            page.hear(text);
            page.key(if key == ' ' { Key::Enter } else { Key::Char(key) });
            if opened {
                page.key(Key::Enter);
            }
            let mut terminal = Terminal::new(TestBackend::new(160, 60)).unwrap();
            terminal.draw(|frame| page.draw(frame.buffer_mut())).unwrap();
            for cell in &terminal.backend().buffer().content {
                harmless(cell.symbol(), Colour::Off);
            }
        }
    }
}

#[track_caller]
fn explanations(text: &str, colour: Colour) {
    let (path, query) = (format!("/api/v1/namespaces/{text}/pods"), format!("labelSelector={text}"));
    let info = RequestInfo::parse("GET", &path, &ListOptions::parse(&query), "");
    let profile = spoiled_profile(text);
    let Some(explained) = Explained::of(&format!("GET {path}?{query}"), &info, &query, &profile) else { return };
    for format in [ExplainFormat::Text, ExplainFormat::Json] {
        harmless(explain_request(&explained, format, colour).unwrap().as_str(), colour);
    }
}

#[track_caller]
fn explained_lines(text: &str, colour: Colour) {
    let event = serde_json::json!({
        "auditID": text, "stage": "ResponseComplete", "verb": "list", "requestURI": format!("/api/v1/{text}?labelSelector={text}"),
        "user": {"username": text}, "userAgent": text, "sourceIPs": [text],
        "responseStatus": {"code": 410, "reason": text, "message": text},
    });
    let gke = serde_json::json!({"protoPayload": {
        "methodName": format!("io.k8s.core.v1.pods.{text}"), "resourceName": text, "authenticationInfo": {"principalEmail": text},
    }});
    let etcd = serde_json::json!({
        "level": "warn", "msg": "request stats", "time spent": "3s", "remote": text, "response type": text, "request content": text,
    });
    let klog = |file: &str, message: String| format!("I0620 12:33:17.389016 1 {file}:1] {message}");
    let lines = [
        event.to_string(),
        gke.to_string(),
        etcd.to_string(),
        klog(
            "httplog.go",
            format!(
                "\"HTTP\" verb=\"GET\" URI={text:?} userAgent={text:?} srcIP={text:?} audit-ID={text:?} apf_pl={text:?} resp=200"
            ),
        ),
        klog(
            "get.go",
            format!("\"Starting watch\" path={text:?} resourceVersion={text:?} labels={text:?} fields={text:?} audit-ID={text:?}"),
        ),
        klog("cacher.go", format!("Terminating all watchers from cacher {text}")),
        klog("reflector.go", format!("{text}: watch of {text} ended with: {text}")),
        klog(
            "trace.go",
            format!(
                "Trace[1]: \"{text}\" url:{text},user-agent:{text},audit-id:{text} (20-Jun-2024 12:33:16.1) (total time: 9ms):"
            ),
        ),
        format!("Trace[1]: ---\"{text}\" 1ms (12:33:16.1)"),
    ];
    let (mut records, mut all) = (LogRecords::of(LogClock::of_year(2024, 0)), ExplainedLines::default());
    let profile = spoiled_profile(text);
    let mut take = |found: FoundRecord| all.lines.extend(ExplainedLine::of(&found, 1, &profile));
    for line in lines {
        records.line(line.as_bytes(), &mut take);
    }
    records.finish(&mut take);
    assert!(all.lines.len() >= 5, "most are recognised with any text in them: {all:?}");
    for line in &all.lines {
        harmless(line.text(colour).as_str(), colour);
    }
    harmless(all.json().unwrap().as_str(), Colour::Off);
}

#[track_caller]
fn verifications(text: &str, colour: Colour) {
    let row = Row {
        shape: "a shape",
        request: text.to_owned(),
        predicted: None,
        otherwise: None,
        rule: None,
        attempts: Vec::new(),
        judgement: Judgement::Noisy,
        is_conclusive: false,
        note: Some(text.to_owned()),
    };
    let verification = Verification {
        server_version: text.to_owned(),
        profile: spoiled_profile(text),
        assumptions: vec![text.to_owned()],
        resource: text.to_owned(),
        chosen: true,
        witnesses: vec!["metrics"],
        requests: 1,
        rows: vec![row],
        tally: Tally::default(),
    };
    harmless(verification_text(&verification, colour).as_str(), colour);
    harmless(verification_json(&verification).unwrap().as_str(), Colour::Off);
}

#[track_caller]
fn probe_checks(text: &str, colour: Colour) {
    let processes = || vec![CheckedProcess { pid: 1, name: text.to_owned() }];
    let state = RequirementState::Missing;
    let (name, found, remedy) = ("a", text.to_owned(), Some(text.to_owned()));
    let requirement = Requirement { name, state, found, unseen: None, remedy };
    let library = CheckedLibrary { name: "rustls", version: Some(text.to_owned()), functions: Vec::new() };
    let (name, why) = (text.to_owned(), Some(text.to_owned()));
    let file = CheckedFile { name, seen: Seen::Not, why, libraries: vec![library], processes: processes() };
    let not_examined = vec![NotExamined { why: text.to_owned(), processes: processes() }];
    let check = ProbeCheck { requirements: vec![requirement], files: vec![file], not_examined };
    harmless(probe_check_text(&check, colour).as_str(), colour);
    harmless(probe_check_json(&check).unwrap().as_str(), Colour::Off);
}

#[track_caller]
fn coverages(text: &str, colour: Colour) {
    let unknown = crate::coverage::tests::none(Admission::Unknown(text.to_owned()));
    for coverage in [crate::coverage::tests::hostile(text), unknown] {
        harmless(coverage_text(&coverage, colour).as_str(), colour);
        harmless(coverage_json(&coverage).unwrap().as_str(), Colour::Off);
    }
}

/// Checks that `printed` has only displayed characters and line breaks, and, with colours, watchtap's own escape sequences.
#[track_caller]
fn harmless(printed: &str, colour: Colour) {
    let mut rest = printed.to_owned();
    if colour == Colour::On {
        for tone in TONES {
            rest = rest.replace(tone, "");
        }
    }
    let passed = rest.chars().find(|character| *character != '\n' && (character.is_control() || OBEYED.contains(*character)));
    assert_eq!(passed, None, "in {:?}", rest.lines().find(|line| passed.is_some_and(|passed| line.contains(passed))));
}
