//! Parts of the documents in `docs`, as plain text. The program contains these documents, because their sentences are written
//! nowhere else.

use observer_core::observer::FindingKind;

/// `docs/findings.md`, with a section for each kind of finding.
const FINDINGS: &str = include_str!("../../../../docs/findings.md");
/// `docs/semantics.md`, with a table of all causes of relists.
const SEMANTICS: &str = include_str!("../../../../docs/semantics.md");

/// The heading of the section with the causes of relists, and the heading of the next section.
const CAUSES: [&str; 2] = ["\n### 6.5 ", "\n### 6.6 "];

/// A paragraph, or an item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) is_item: bool,
    /// Without line breaks and markup.
    pub(super) text: String,
}

/// The row of a cause of relists in the tables of §6.5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CauseRow {
    /// The observations before the relist that show this cause.
    pub(super) seen: String,
    /// The versions of servers and clients; may be empty.
    pub(super) versions: String,
}

/// The section on a kind of finding.
pub(super) fn of_finding(kind: FindingKind) -> Vec<Block> {
    let Some((_, after)) = FINDINGS.split_once(&format!("\n## {kind}\n")) else { return Vec::new() };
    blocks(after.split("\n## ").next().unwrap_or_default())
}

/// The row of the cause with this identifier.
pub(super) fn of_cause(id: &str) -> Option<CauseRow> {
    let (_, after) = SEMANTICS.split_once(CAUSES[0])?;
    let (section, _) = after.split_once(CAUSES[1])?;
    // A cause with a code has one row for all codes.
    let coded = ["watch-error", "watch-refused"].into_iter().find(|first| id.split('/').next() == Some(*first));
    let begin = format!("| `{}`", coded.unwrap_or(id));
    let row = section.lines().find_map(|line| line.strip_prefix(&begin))?;
    // In the output, the marks of sections stand outside their document.
    let text = |cell: &str| plain(cell.trim()).replace('§', "docs/semantics.md §");
    let mut cells = row.trim_end_matches('|').split('|').skip(1).map(text);
    Some(CauseRow { seen: cells.next()?, versions: cells.next().unwrap_or_default() })
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for line in markdown.lines().map(str::trim) {
        let item = line.strip_prefix("- ");
        match blocks.last_mut() {
            Some(open) if is_open && item.is_none() && !line.is_empty() => {
                open.text.push(' ');
                open.text.push_str(line);
            }
            _ if line.is_empty() => is_open = false,
            _ => {
                blocks.push(Block { is_item: item.is_some(), text: item.unwrap_or(line).to_owned() });
                is_open = true;
            }
        }
    }
    for block in &mut blocks {
        block.text = plain(&block.text);
    }
    blocks
}

/// Returns `markdown` without code marks and emphasis. A link is replaced by its text.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once('[') {
        let link = after.split_once("](").and_then(|(shown, target)| Some((shown, target.split_once(')')?.1)));
        text.push_str(before);
        if let Some((shown, further)) = link {
            text.push_str(shown);
            rest = further;
        } else {
            text.push('[');
            rest = after;
        }
    }
    text.push_str(rest);
    text.replace(['`', '*'], "")
}

#[cfg(test)]
mod tests {
    use observer_core::reflector::{cause_names, causes_named};

    use super::*;

    #[test]
    fn every_kind_of_finding_has_a_section() {
        for kind in FindingKind::ALL.iter().copied() {
            let blocks = of_finding(kind);
            assert!(blocks.first().is_some_and(|block| !block.is_item && block.text.len() > 60), "{kind}: {blocks:?}");
            for Block { text, .. } in blocks {
                assert!(!text.contains(['`', '*', '|', '\n']) && !text.contains("](") && !text.starts_with('#'), "{kind}: {text}");
            }
        }
    }

    #[test]
    fn every_cause_has_a_row() {
        for cause in cause_names().flat_map(|name| causes_named(&name)) {
            let row = of_cause(&cause.id());
            assert!(row.as_ref().is_some_and(|row| row.seen.len() > 20), "{}: {row:?}", cause.id());
        }
        assert_eq!(of_cause("watch-error/500"), of_cause("watch-error/CODE"));
        assert_eq!(of_cause("no-such-cause"), None);
    }

    #[test]
    fn markup_is_removed() {
        let text = blocks("\n\nOne `a b`\nand [two](two.md) [3].\n- *an* item\n  of two lines\n- next\n\nEnd.\n");
        let expected = [(false, "One a b and two [3]."), (true, "an item of two lines"), (true, "next"), (false, "End.")];
        assert_eq!(text, expected.map(|(is_item, text)| Block { is_item, text: text.to_owned() }));
    }
}
