//! Writes results into `docs/benches.md`, between two markers. The rest of that page is written by hand.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Replaces the text between the markers `<!-- NAME: begin … -->` and `<!-- NAME: end -->` of `file`.
pub(crate) fn write(file: &Path, name: &str, text: &str) -> Result<()> {
    let page = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let page = replaced(&page, name, text)
        .with_context(|| format!("{} has no markers `{name}: begin` and `{name}: end`", file.display()))?;
    fs::write(file, page).with_context(|| format!("cannot write {}", file.display()))
}

fn replaced(page: &str, name: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(&format!("<!-- {name}: begin"))?;
    let (remark, rest) = rest.split_once("-->\n")?;
    let (_, after) = rest.split_once(&format!("<!-- {name}: end -->"))?;
    Some(format!("{before}<!-- {name}: begin{remark}-->\n\n{}\n\n<!-- {name}: end -->{after}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn only_the_text_between_the_markers_is_replaced() {
        let page =
            "# Page\n<!-- a: begin, by the bench -->\nold\n<!-- a: end -->\nwords\n<!-- b: begin -->\nkept\n<!-- b: end -->\n";
        let expected =
            "# Page\n<!-- a: begin, by the bench -->\n\nnew\n\n<!-- a: end -->\nwords\n<!-- b: begin -->\nkept\n<!-- b: end -->\n";
        assert_eq!(replaced(page, "a", "new\n").as_deref(), Some(expected));
        assert_eq!(replaced(expected, "a", "new\n").as_deref(), Some(expected));
    }

    #[test]
    fn page_without_both_markers_is_not_changed() {
        assert_eq!(replaced("# Page\n<!-- a: begin -->\n", "a", "new"), None);
    }
}
