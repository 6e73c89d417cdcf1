//! Writes the values of the boards' panels into docs/metrics.md, from the file that a test of the group `prometheus` writes.

use std::collections::BTreeMap;
use std::fs;

use anyhow::Context;
use serde_json::Value;

use super::document::{Document, line, text_of};
use crate::workspace;

const DOCUMENT: Document = Document { path: "docs/metrics.md", folder: "panels" };

/// The heading of the section, the last one. A test of the shell writes the rest of the document.
pub(crate) const HEADING: &str = "## Panels of the boards";

const INTRODUCTION: &str = "
The highest values of each panel while the standard script of the demo played once, at twice its speed; for tables, the values at its end. A
cell has up to three series of each query, and the number of further ones. Prometheus scraped each second, so `$__rate_interval` was four seconds. `increase` extrapolates, so
that counts may have fractions. The second board shows one client at a time; its name comes first.

No Grafana has drawn these boards. A test sends each query to a real Prometheus, with the variables as Grafana inserts them
(`tests/it/metrics/prometheus/panels.rs`). It fails if a query returns nothing above zero, unless this table has the reason.
`cargo xtask test --panels` writes this section.
";

/// Removes the file of an earlier run.
pub(crate) fn forget() -> anyhow::Result<()> {
    DOCUMENT.forget()
}

/// Replaces the section. Fails if the test has written no values.
pub(crate) fn write() -> anyhow::Result<()> {
    let file = DOCUMENT.folder().join("panels.json");
    let values = fs::read_to_string(&file).with_context(|| format!("{} is not written: no values of panels", DOCUMENT.path))?;
    let values: Value = serde_json::from_str(&values).with_context(|| format!("cannot read {}", file.display()))?;
    let section = section(&values).with_context(|| format!("cannot use {}", file.display()))?;
    let document = workspace::root().join(DOCUMENT.path);
    let document = fs::read_to_string(&document).with_context(|| format!("cannot read {}", document.display()))?;
    let before = document.split_once(HEADING).map_or(document.as_str(), |(before, _)| before);
    DOCUMENT.write(&format!("{}\n\n{section}", before.trim_end()))
}

fn section(values: &Value) -> anyhow::Result<String> {
    let mut queries: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut panels = Vec::new();
    for row in values["rows"].as_array().context("no rows")? {
        let panel = (text_of(row, "board")?, text_of(row, "panel")?);
        if !queries.contains_key(&panel) {
            panels.push(panel.clone());
        }
        let (values, of_panel) = (text_of(row, "values")?, queries.entry(panel).or_default());
        // Queries of one panel may lack data for the same reason.
        if !of_panel.contains(&values) {
            of_panel.push(values);
        }
    }
    let mut section = String::new();
    line(&mut section, HEADING);
    section.push_str(INTRODUCTION);
    let mut present = None;
    for panel in &panels {
        let (board, title) = panel;
        if present != Some(board) {
            line(&mut section, &format!("\n| Panel of `deploy/chart/files/grafana/{board}.json` | Highest values |\n|---|---|"));
            present = Some(board);
        }
        let values = queries.get(panel).map(|values| values.join("<br>"));
        line(&mut section, &format!("| {title} | {} |", values.unwrap_or_default()));
    }
    Ok(section)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn queries_of_a_panel_share_its_row() {
        let row = |board: &str, panel: &str, values: &str| json!({ "board": board, "panel": panel, "values": values });
        let rows = [
            row("b", "Storms", "storms **1**"),
            row("b", "Losses", "0"),
            row("b", "Losses", "no series"),
            row("b", "Losses", "0"),
            row("a", "Storms", "2"),
        ];
        let section = section(&json!({ "rows": rows })).unwrap();
        let tables = section.split_once("writes this section.\n").unwrap().1;
        let expected = "
| Panel of `deploy/chart/files/grafana/b.json` | Highest values |
|---|---|
| Storms | storms **1** |
| Losses | 0<br>no series |

| Panel of `deploy/chart/files/grafana/a.json` | Highest values |
|---|---|
| Storms | 2 |
";
        assert_eq!(tables, expected);
    }
}
