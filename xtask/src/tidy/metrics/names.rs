//! Rule: recording rules, alerts, their tests, boards and docs/alerts.md name only metrics, labels and label values that exist.
//!
//! A metric is in the table of the core, is recorded by a rule, or belongs to another program. Label values are compared if the table
//! of the core lists them.

use std::collections::BTreeSet;

use super::promql::{Matcher, Name, names};
use super::rule_file::items;
use super::tables::{Label, Tables};
use crate::tidy::tree::{SourceFile, Tree};
use crate::tidy::violation::{Violation, assert_found, assert_none};

pub(super) const RULES: &str = "deploy/chart/files/prometheus/";
pub(super) const BOARDS: &str = "deploy/chart/files/grafana/";
pub(super) const ALERTS_DOCUMENT: &str = "docs/alerts.md";

/// Metrics of other programs.
const OTHER_METRICS: [&str; 4] =
    ["up", "apiserver_storage_list_total", "apiserver_watch_cache_consistent_read_total", "apiserver_watch_cache_resource_version"];
/// Labels of scrapes, of histograms and of other programs, and those that rules add.
const OTHER_LABELS: [&str; 13] = [
    "alertname",
    "cluster",
    "container",
    "endpoint",
    "instance",
    "job",
    "le",
    "loss",
    "namespace",
    "node",
    "pod",
    "service",
    "storage",
];

/// All names that may be used.
pub(super) struct Known {
    tables: Tables,
    records: BTreeSet<String>,
}

impl Known {
    pub(super) fn read(tree: &Tree) -> Self {
        let files = tree.files().iter().filter(|file| file.path.starts_with(RULES));
        let records = files.flat_map(items).filter(|item| item.kind == "record").map(|item| item.name.to_owned()).collect();
        Self { tables: Tables::read(tree), records }
    }

    /// The faults of the names in an expression, in words.
    pub(super) fn wrong(&self, expression: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        for name in names(expression) {
            match name {
                Name::Label(label) if !self.is_label(label) => wrong.push(format!("no metric has the label `{label}`")),
                Name::Label(_) => {}
                Name::Metric(metric, matchers) => match self.tables.labels_of(metric) {
                    Some(labels) => wrong.extend(matchers.iter().filter_map(|matcher| mismatch(metric, &labels, *matcher))),
                    None if OTHER_METRICS.contains(&metric) => {}
                    None if self.records.contains(metric) => {
                        let unknown = matchers.iter().filter(|matcher| !self.is_label(matcher.label));
                        wrong.extend(unknown.map(|matcher| format!("no metric has the label `{}`", matcher.label)));
                    }
                    None => wrong.push(format!("there is no metric `{metric}`")),
                },
            }
        }
        wrong
    }

    pub(super) fn is_label(&self, label: &str) -> bool {
        OTHER_LABELS.contains(&label) || self.tables.has_label(label)
    }
}

/// Why a matcher selects nothing.
fn mismatch(metric: &str, labels: &[&Label], matcher: Matcher<'_>) -> Option<String> {
    let Matcher { label, is_pattern, value } = matcher;
    let Some(row) = labels.iter().find(|row| row.names.iter().any(|name| name == label)) else {
        return (!OTHER_LABELS.contains(&label)).then(|| format!("`{metric}` has no label `{label}`"));
    };
    let values = row.values.as_ref()?;
    let alternatives: Vec<&str> = if is_pattern { value.split('|').collect() } else { vec![value] };
    let is_value = |alternative: &&str| match alternative.strip_suffix(".*").filter(|_| is_pattern) {
        Some(beginning) => values.iter().any(|value| value.starts_with(beginning)),
        None => alternative.starts_with('$') || *alternative == "other" || values.iter().any(|value| value == alternative),
    };
    let unknown = alternatives.iter().find(|alternative| !is_value(alternative))?;
    Some(format!("`{label}` of `{metric}` is never `{unknown}`"))
}

/// The violations in a file of rules, or of tests.
fn in_rules(file: &SourceFile, known: &Known) -> Vec<Violation> {
    let items = items(file);
    let expressions = items.iter().flat_map(|item| ["expr", "series"].map(|key| item.values(key))).flatten();
    let in_expressions = expressions.flat_map(|(line, text)| known.wrong(&text).into_iter().map(move |what| (line, what)));
    let templates = (1..).zip(file.text.lines()).flat_map(|(line, text)| {
        let labels = text.split("$labels.").skip(1);
        let name =
            |rest: &'_ str| rest.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next().map(str::to_owned);
        labels.filter_map(name).map(move |label| (line, label)).collect::<Vec<_>>()
    });
    let in_templates = templates.filter(|(_, label)| !known.is_label(label));
    let in_templates = in_templates.map(|(line, label)| (line, format!("no metric has the label `{label}`")));
    in_expressions.chain(in_templates).map(|(line, what)| Violation::at(file, line, what)).collect()
}

/// The violations in a document. Code in it counts if it contains a name of watchtap or of a recording rule.
fn in_document(file: &SourceFile, known: &Known) -> Vec<Violation> {
    let lines = (1..).zip(file.text.lines());
    let code = lines.flat_map(|(line, text)| text.split('`').skip(1).step_by(2).map(move |code| (line, code)));
    let is_metric = |code: &str| code.contains("watchtap_") && !code.contains('/');
    let metrics = code.filter(|(_, code)| is_metric(code));
    metrics.flat_map(|(line, code)| known.wrong(code).into_iter().map(move |what| Violation::at(file, line, what))).collect()
}

const REMEDY: &str = "name a metric, label and value of observer/core/src/series, or a record of deploy/chart/files/prometheus; \
                      the name of another program stands in xtask/src/tidy/metrics/names.rs";

#[test]
fn rules_and_their_tests_name_what_exists() {
    let tree = Tree::read();
    let known = Known::read(&tree);
    let files: Vec<&SourceFile> = tree.files().iter().filter(|file| file.path.starts_with(RULES)).collect();
    assert!(files.len() > 5, "{RULES} has moved: this rule must follow it");
    assert!(known.records.len() > 10, "{:?}", known.records);
    assert_none(&files.into_iter().flat_map(|file| in_rules(file, &known)).collect::<Vec<_>>(), REMEDY);
}

#[test]
fn document_of_alerts_names_what_exists() {
    let tree = Tree::read();
    assert_none(&in_document(tree.file(ALERTS_DOCUMENT), &Known::read(&tree)), REMEDY);
}

/// A table with one metric, a record, and two layers.
pub(super) fn example() -> Known {
    let families = "A = COUNTER \"watchtap_a_total\" [ServedFrom, Finding]\nB = OF_REQUESTS \"watchtap_b_seconds\" []";
    let labels = "LabelRow { label: Label::ServedFrom, names: &[\"served_from\"], values: Values::Words(LayerWord::WORDS) }, \
                  LabelRow { label: Label::Finding, names: &[\"kind\"], values: Values::Words(FindingKind::IDS) },";
    let words = [("LayerWord".to_owned(), ["cache", "cache_consistent", "etcd"].map(str::to_owned).to_vec())].into();
    let tables = Tables::of(families, labels, words, vec!["poller".to_owned()]);
    Known { tables, records: ["job:watchtap_a:rate5m".to_owned()].into() }
}

#[test]
fn unknown_names_are_caught() {
    let known = example();
    for (expression, wrong) in [
        ("rate(watchtap_a_total{served_from=\"etcd\", kind=\"poller\", job=~\"$job\"}[5m]) > 0", None),
        ("sum by (le) (watchtap_b_seconds_bucket) / on (cluster) group_left () job:watchtap_a:rate5m{kind=\"x\"}", None),
        ("watchtap_a_total{served_from=~\"cache.*|etcd|other\"} and up == 0", None),
        ("watchtap_c_total", Some("there is no metric `watchtap_c_total`")),
        ("job:watchtap_c:rate5m", Some("there is no metric `job:watchtap_c:rate5m`")),
        ("watchtap_b_seconds", Some("there is no metric `watchtap_b_seconds`")),
        ("watchtap_a_total{layer=\"etcd\"}", Some("`watchtap_a_total` has no label `layer`")),
        ("watchtap_a_total{served_from=\"disk\"}", Some("`served_from` of `watchtap_a_total` is never `disk`")),
        ("watchtap_a_total{served_from!~\"etcd|disk.*\"}", Some("`served_from` of `watchtap_a_total` is never `disk.*`")),
        ("watchtap_a_total{kind=\"pollers\"}", Some("`kind` of `watchtap_a_total` is never `pollers`")),
        ("sum without (layer) (watchtap_a_total)", Some("no metric has the label `layer`")),
    ] {
        assert_eq!(known.wrong(expression), wrong.map(str::to_owned).into_iter().collect::<Vec<_>>(), "{expression}");
    }
}

#[test]
fn unknown_names_are_caught_in_rules_templates_and_documents() {
    let text = "- alert: A\n  expr: |\n    watchtap_c_total\n  description: \"{{ $labels.kind }} {{ $labels.layer }}\"\n- name: \"A: fires\"\n  - series: 'watchtap_d'\n";
    assert_found(
        &in_rules(&SourceFile::new("a.yaml", text), &example()),
        &["2: there is no metric `watchtap_c_total`", "6: there is no metric `watchtap_d`", "4: no metric has the label `layer`"],
    );
    let text = "`watchtap_a_total`, `watchtap run`, `tests/watchtap_c`\n`watchtap_c`\n";
    assert_found(&in_document(&SourceFile::new("a.md", text), &example()), &["2: there is no metric `watchtap_c`"]);
}
