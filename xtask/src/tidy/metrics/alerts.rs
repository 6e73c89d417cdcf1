//! Rule: each alert is complete, has a section in docs/alerts.md and three tests; each recorded metric has a test; and docs/alerts.md
//! names each kind of finding.

use super::names::{ALERTS_DOCUMENT, RULES};
use super::rule_file::{Item, items};
use crate::tidy::tree::{SourceFile, Tree};
use crate::tidy::violation::{Violation, assert_found, assert_none};

const TESTS: &str = "deploy/chart/files/prometheus/tests/";
const FINDINGS: &str = "docs/findings.md";

/// The ends of the names of an alert's tests.
const CASES: [&str; 3] = ["fires", "just below", "no series"];
/// The keys of an alert.
const KEYS: [&str; 6] = ["expr", "for", "severity", "summary", "description", "runbook_url"];
const SEVERITIES: [&str; 3] = ["info", "warning", "critical"];
/// The end of the name of a record that is only a number. The tests of its alert cover it.
const THRESHOLD: &str = ":threshold";

fn violations(rules: &[&SourceFile], tests: &[&SourceFile], document: &str) -> Vec<Violation> {
    let cases: Vec<Item<'_>> = tests.iter().flat_map(|file| items(file)).filter(|item| item.kind == "name").collect();
    let mut found = Vec::new();
    for file in rules {
        for item in items(file) {
            let wrong = match item.kind {
                "alert" => wrong_alert(&item, &cases, document),
                "record" => untested(&item, tests),
                _ => Vec::new(),
            };
            found.extend(wrong.into_iter().map(|what| Violation::at(file, item.line, format!("{} {what}", item.name))));
        }
    }
    found
}

fn wrong_alert(alert: &Item<'_>, cases: &[Item<'_>], document: &str) -> Vec<String> {
    let mut wrong: Vec<String> =
        KEYS.iter().filter(|key| alert.value(key).is_none()).map(|key| format!("has no `{key}`")).collect();
    if alert.value("severity").is_some_and(|severity| !SEVERITIES.contains(&severity)) {
        wrong.push(format!("has a severity other than {}", SEVERITIES.join(", ")));
    }
    let runbook = format!("{ALERTS_DOCUMENT}#{}", alert.name.to_lowercase());
    if alert.value("runbook_url").is_some_and(|url| url != runbook) {
        wrong.push(format!("has a runbook other than {runbook}"));
    }
    if !document.lines().any(|line| line.strip_prefix("## ") == Some(alert.name)) {
        wrong.push(format!("has no section in {ALERTS_DOCUMENT}"));
    }
    for end in CASES {
        let named = cases.iter().filter(|case| case.name.starts_with(&format!("{}: {end}", alert.name)));
        let is_about = |case: &Item<'_>| {
            let fires = case.lines.iter().any(|line| line.trim() == "exp_alerts:");
            let alert_names = case.values("alertname");
            alert_names.iter().any(|(_, name)| name == alert.name) && (end != "fires" || fires)
        };
        if !named.into_iter().any(is_about) {
            wrong.push(format!("has no test `{}: {end}`", alert.name));
        }
    }
    wrong
}

fn untested(record: &Item<'_>, tests: &[&SourceFile]) -> Vec<String> {
    let is_tested = tests.iter().any(|file| {
        items(file).iter().flat_map(|item| item.values("expr")).any(|(_, expression)| expression.contains(record.name))
    });
    let is_covered = is_tested || record.name.ends_with(THRESHOLD);
    (!is_covered).then(|| "has no test".to_owned()).into_iter().collect()
}

/// Sections without an alert, and kinds of findings that the document does not name.
fn missing_in_rules(rules: &[&SourceFile], document: &SourceFile, findings: &str) -> Vec<Violation> {
    let alerts: Vec<String> =
        rules.iter().flat_map(|file| items(file)).filter(|item| item.kind == "alert").map(|item| item.name.to_owned()).collect();
    let sections = (1..).zip(document.text.lines()).filter_map(|(line, text)| Some((line, text.strip_prefix("## Watchtap")?)));
    let without_alert = sections.filter(|(_, name)| !alerts.contains(&format!("Watchtap{name}")));
    let without_alert = without_alert.map(|(line, name)| Violation::at(document, line, format!("no alert Watchtap{name}")));
    let kinds = findings.lines().filter_map(|line| line.strip_prefix("## "));
    let is_named = |kind: &str| [format!("`{kind}`"), format!("[{kind}]")].iter().any(|name| document.text.contains(name));
    let unnamed = kinds.filter(|kind| !is_named(kind)).map(|kind| Violation::of(document, format!("finding {kind} is not named")));
    without_alert.chain(unnamed).collect()
}

#[test]
fn alerts_are_complete_documented_and_tested() {
    let tree = Tree::read();
    let (tests, rules): (Vec<&SourceFile>, Vec<&SourceFile>) =
        tree.files().iter().filter(|file| file.path.starts_with(RULES)).partition(|file| file.path.starts_with(TESTS));
    let alerts = rules.iter().flat_map(|file| items(file)).filter(|item| item.kind == "alert").count();
    assert!(alerts > 15, "{alerts} alerts are found: has the form of the files changed?");
    let document = tree.file(ALERTS_DOCUMENT);
    let mut violations = violations(&rules, &tests, &document.text);
    violations.extend(missing_in_rules(&rules, document, &tree.file(FINDINGS).text));
    assert_none(
        &violations,
        "complete the alert, write its section in docs/alerts.md, and its tests in deploy/chart/files/prometheus/tests; a finding \
         that needs no alert is in the last table of docs/alerts.md",
    );
}

#[test]
fn incomplete_alerts_are_caught() {
    let rules = "- record: a:b:threshold\n  expr: vector(1)\n- record: a:b:sum\n  expr: b\n- alert: WatchtapA\n  expr: a > 0\n  for: 0m\n  severity: page\n  summary: S.\n  description: D.\n  runbook_url: docs/alerts.md#a\n";
    let tests = "- name: \"WatchtapA: fires\"\n  alertname: WatchtapA\n  exp_alerts: []\n- name: \"WatchtapA: just below\"\n  alertname: WatchtapA\n- name: \"WatchtapA: no series\"\n  alertname: WatchtapB\n";
    let (rules, tests) = (SourceFile::new("a.yaml", rules), SourceFile::new("b.yaml", tests));
    assert_found(
        &violations(&[&rules], &[&tests], "## WatchtapB\n"),
        &[
            "3: a:b:sum has no test",
            "5: WatchtapA has a severity other than info, warning, critical",
            "5: WatchtapA has a runbook other than docs/alerts.md#watchtapa",
            "5: WatchtapA has no section in docs/alerts.md",
            "5: WatchtapA has no test `WatchtapA: fires`",
            "5: WatchtapA has no test `WatchtapA: no series`",
        ],
    );
    let document = SourceFile::new("docs/alerts.md", "## WatchtapB\n`poller`\n");
    assert_found(
        &missing_in_rules(&[&rules], &document, "## poller\n## stuck\n"),
        &["1: no alert WatchtapB", "finding stuck is not named"],
    );
}
