//! Reads rule files of Prometheus and their tests, line by line. It expects the form of this repository: one key a line, `- record:`,
//! `- alert:` and `- name:` as the first key of an item.

use crate::tidy::tree::SourceFile;

/// A recording rule, an alert, or a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item<'a> {
    /// Its first key.
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    /// The line of its name, counted from 1.
    pub(super) line: usize,
    /// Up to the next item, comments included.
    pub(super) lines: Vec<&'a str>,
}

/// The items of a file, in their order. A group is an item, too, up to its first rule.
pub(super) fn items(file: &SourceFile) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()) {
        let first = line.trim_start().strip_prefix("- ").and_then(|key| key.split_once(": "));
        if let Some((kind, name)) = first.filter(|(kind, _)| ["record", "alert", "name"].contains(kind)) {
            items.push(Item { kind, name: unquoted(name), line: number, lines: Vec::new() });
        }
        if let Some(item) = items.last_mut() {
            item.lines.push(line);
        }
    }
    items
}

impl<'a> Item<'a> {
    /// The value of a key that is on one line.
    pub(super) fn value(&self, key: &str) -> Option<&'a str> {
        self.lines.iter().find_map(|line| {
            let value = line.trim_start().trim_start_matches("- ").strip_prefix(key)?.strip_prefix(':')?;
            Some(unquoted(value.trim()))
        })
    }

    /// The values of all keys of this name, with their lines. A value in a block has several lines.
    pub(super) fn values(&self, key: &str) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            let trimmed = line.trim_start();
            let Some(value) = trimmed.trim_start_matches("- ").strip_prefix(key).and_then(|rest| rest.strip_prefix(": ")) else {
                continue;
            };
            let indent = line.len() - trimmed.trim_start_matches("- ").len();
            let is_deeper = |line: &&&str| line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
            let block: Vec<&str> = self.lines[index + 1..].iter().take_while(is_deeper).copied().collect();
            let value = if ["|", ">-"].contains(&value) { block.join("\n") } else { unquoted(value).to_owned() };
            found.push((self.line + index, value));
        }
        found
    }
}

fn unquoted(value: &str) -> &str {
    let quoted = ["\"", "'"].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    quoted.unwrap_or(value)
}

#[test]
fn rules_are_split_into_their_keys() {
    let text = "groups:\n  - name: g\n    rules:\n      # no rule\n      - alert: A\n        expr: |\n          a\n            > 1\n        for: 5m\n      - record: b:c:sum\n        expr: sum(c)\n";
    let file = SourceFile::new("a.yaml", text);
    let items = items(&file);
    let named: Vec<_> = items.iter().map(|item| (item.line, item.kind, item.name)).collect();
    assert_eq!(named, [(2, "name", "g"), (5, "alert", "A"), (10, "record", "b:c:sum")]);
    assert_eq!(items[1].value("for"), Some("5m"));
    assert_eq!(items[1].values("expr"), [(6, "          a\n            > 1".to_owned())]);
    assert_eq!(items[2].values("expr"), [(11, "sum(c)".to_owned())]);
}

#[test]
fn values_of_tests_are_read_without_quotes() {
    let text = "tests:\n  - name: \"A: fires\"\n    input_series:\n      - series: 'a{b=\"c\"}'\n        values: '1'\n";
    let file = SourceFile::new("a.yaml", text);
    let items = items(&file);
    assert_eq!((items[0].name, items[0].values("series")), ("A: fires", vec![(4, "a{b=\"c\"}".to_owned())]));
}
