//! Rule: docs/metrics.md has a row with values for each panel of the boards, in their order. The values are those of one run, and not
//! compared.

use serde_json::Value;

use super::names::BOARDS;
use crate::test::PANELS_HEADING;
use crate::tidy::tree::{SourceFile, Tree};

const DOCUMENT: &str = "docs/metrics.md";

/// The path of a board, and the titles of its panels.
fn titles_of(board: &SourceFile) -> Vec<String> {
    let content: Value = serde_json::from_str(&board.text).unwrap();
    let panels = content["panels"].as_array().map(Vec::as_slice).unwrap_or_default();
    let panels = panels.iter().filter(|panel| panel["type"] != "row");
    let titles = panels.map(|panel| panel["title"].as_str().unwrap_or_default().to_owned());
    [board.path.clone()].into_iter().chain(titles).collect()
}

/// The first cells of the rows in a document's section on panels; of the heads of its tables, the path. A row without values does not
/// count.
fn rows_of(document: &str) -> Vec<String> {
    let section = document.split_once(PANELS_HEADING).map_or("", |(_, section)| section);
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let rows = rows.filter(|(_, values)| !values.trim().is_empty());
    rows.map(|(panel, _)| panel.strip_prefix("Panel of ").map_or(panel, |path| path.trim_matches('`')).to_owned()).collect()
}

#[test]
fn every_panel_has_values_in_the_documentation() {
    let tree = Tree::read();
    let mut boards: Vec<&SourceFile> = tree.files().iter().filter(|file| file.path.starts_with(BOARDS)).collect();
    // The board for all clients comes first, and has the shortest name.
    boards.sort_by_key(|board| board.path.len());
    let titles: Vec<String> = boards.into_iter().flat_map(titles_of).collect();
    assert!(titles.len() > 60, "{BOARDS} has moved: this rule must follow it");
    let document = tree.files().iter().find(|file| file.path == DOCUMENT).unwrap();
    assert_eq!(rows_of(&document.text), titles, "run `cargo xtask test --panels`, which writes this section of {DOCUMENT}");
}

#[test]
fn rows_are_read() {
    let table = "| Panel of `deploy/x.json` | V |\n|---|---|\n| Storms | a **1** |\n| Losses |  |\n";
    assert_eq!(rows_of(&format!("| A | b |\n{PANELS_HEADING}\n{table}")), ["deploy/x.json", "Storms"]);
    assert_eq!(rows_of("| A | b |\n"), Vec::<String>::new());
}
