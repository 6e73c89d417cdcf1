//! Reads the tables of the core: metrics, labels and the values of labels.

use std::collections::BTreeMap;

use crate::tidy::tree::Tree;

const FAMILIES: &str = "observer/core/src/series/family.rs";
const LABELS: &str = "observer/core/src/series/label.rs";
const SERIES: &str = "observer/core/src/series/";
const FINDINGS: &str = "docs/findings.md";

/// The tables of the core.
pub(super) struct Tables {
    /// By name.
    families: BTreeMap<String, Family>,
    /// The label names of all families, with the values that they can have.
    labels: BTreeMap<String, Vec<Label>>,
}

/// The labels of a metric, by their names in the code.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Family {
    is_histogram: bool,
    labels: Vec<String>,
}

/// The names of a label, and its values if they are known in advance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) names: Vec<String>,
    pub(super) values: Option<Vec<String>>,
}

impl Tables {
    pub(super) fn read(tree: &Tree) -> Self {
        let words = tree.rust_files_below(SERIES).into_iter().flat_map(|file| words(&file.text)).collect();
        let kinds = tree.file(FINDINGS).text.lines().filter_map(|line| line.strip_prefix("## ")).map(str::to_owned).collect();
        Self::of(&tree.file(FAMILIES).text, &tree.file(LABELS).text, words, kinds)
    }

    /// The tables in these texts. `kinds` are those of findings.
    pub(super) fn of(families: &str, labels: &str, mut words: BTreeMap<String, Vec<String>>, kinds: Vec<String>) -> Self {
        words.insert("FindingKind".to_owned(), kinds);
        let rows = label_rows(labels, &words);
        let mut labels: BTreeMap<String, Vec<Label>> = BTreeMap::new();
        for (label, row) in rows {
            labels.entry(label).or_default().push(row);
        }
        Self { families: family_rows(families), labels }
    }

    pub(super) fn metrics(&self) -> impl Iterator<Item = &str> {
        self.families.keys().map(String::as_str)
    }

    /// The labels of a metric, or of a part of a histogram.
    pub(super) fn labels_of(&self, metric: &str) -> Option<Vec<&Label>> {
        let part = ["_bucket", "_sum", "_count"].into_iter().find_map(|part| metric.strip_suffix(part));
        let of_part = part.and_then(|name| self.families.get(name)).filter(|family| family.is_histogram);
        let family = self.families.get(metric).filter(|family| !family.is_histogram).or(of_part)?;
        Some(family.labels.iter().filter_map(|label| self.labels.get(label)).flatten().collect())
    }

    /// Whether any metric has a label of this name.
    pub(super) fn has_label(&self, name: &str) -> bool {
        self.labels.values().flatten().any(|label| label.names.iter().any(|known| known == name))
    }
}

/// The rows of the table of families: `Requests = COUNTER "watchtap_requests_total" [Client, Verb]`.
fn family_rows(text: &str) -> BTreeMap<String, Family> {
    let mut rows = BTreeMap::new();
    for row in text.split(" = ").skip(1) {
        let Some((kind, rest)) = row.split_once(" \"") else { continue };
        let is_kind = !kind.is_empty() && kind.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
        let parts = rest.split_once("\" [").and_then(|(name, rest)| Some((name, rest.split_once(']')?.0)));
        if let Some((name, labels)) = parts.filter(|_| is_kind) {
            let labels = labels.split(',').map(str::trim).filter(|label| !label.is_empty()).map(str::to_owned).collect();
            rows.insert(name.to_owned(), Family { is_histogram: kind.starts_with("OF_"), labels });
        }
    }
    rows
}

/// The rows of the table of labels, by their names in the code.
fn label_rows(text: &str, words: &BTreeMap<String, Vec<String>>) -> Vec<(String, Label)> {
    let rows = text.split("LabelRow {").filter_map(|row| row.split_once('}').map(|(row, _)| row));
    let row = |row: &str| {
        let (_, label) = row.split_once("label: Label::")?;
        let (label, rest) = label.split_once(',')?;
        let (names, values) = rest.split_once("names: &[")?.1.split_once(']')?;
        let names = names.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        let of_type = values.split_once("Values::Words(").and_then(|(_, words)| words.split_once("::")).map(|(name, _)| name);
        let values = of_type.and_then(|name| words.get(name.trim())).cloned();
        Some((label.trim().to_owned(), Label { names, values }))
    };
    rows.filter_map(row).collect()
}

/// The words of each type that `words! { … }` declares in `text`.
fn words(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut types = BTreeMap::new();
    for declared in text.split("\nwords! {").skip(1) {
        let body = declared.split("\n}").next().unwrap_or_default();
        let is_code = |line: &&str| !line.trim_start().starts_with("//") && !line.trim_start().starts_with("#[");
        let mut lines = body.lines().filter(is_code).map(str::trim).filter(|line| !line.is_empty());
        let Some(name) = lines.next().and_then(|line| line.strip_suffix(" {")) else { continue };
        let values = lines.filter_map(|line| line.split('"').nth(1)).map(str::to_owned).collect();
        types.insert(name.to_owned(), values);
    }
    types
}

#[test]
fn tables_of_the_core_are_read() {
    let tables = Tables::read(&Tree::read());
    assert!(tables.families.len() > 10, "{FAMILIES} has another form: {:?}", tables.families.keys());
    for (name, family) in &tables.families {
        for label in &family.labels {
            assert!(tables.labels.contains_key(label), "{LABELS} has no row for {label} of {name}");
        }
    }
    let verbs = &tables.labels_of("watchtap_requests_total").unwrap();
    let verb = verbs.iter().find(|label| label.names == ["verb"]).unwrap();
    assert!(verb.values.as_ref().is_some_and(|values| values.contains(&"DELETECOLLECTION".to_owned())), "{verb:?}");
}

#[test]
fn rows_are_split_into_their_parts() {
    let families =
        "A = COUNTER \"a_total\" [Client, Kind]\n \"Help\";\nB = OF_WATCHES \"b_seconds\" []\n \"Help\";\nlet c = \"d\";";
    let labels = "&[\n LabelRow { label: Label::Client, names: &[\"client\", \"service_account\"], values: Values::FirstCome },\n \
                  LabelRow { label: Label::Kind, names: &[\"kind\"], values: Values::Words(KindWord::WORDS) },\n];";
    let words = words(
        "\nwords! {\n    /// A kind.\n    KindWord {\n        /// None.\n        None = \"\",\n        One = \"one\",\n    }\n}\n",
    );
    let tables = Tables::of(families, labels, words, Vec::new());
    assert_eq!(tables.metrics().collect::<Vec<_>>(), ["a_total", "b_seconds"]);
    let of_a = tables.labels_of("a_total").unwrap();
    assert_eq!(of_a[0].names, ["client", "service_account"]);
    assert_eq!(of_a[1].values.as_deref(), Some([String::new(), "one".to_owned()].as_slice()));
    assert!(tables.labels_of("b_seconds_bucket").is_some() && tables.labels_of("b_seconds").is_none());
    assert!(tables.labels_of("a_total_sum").is_none() && tables.has_label("service_account") && !tables.has_label("pod"));
}
