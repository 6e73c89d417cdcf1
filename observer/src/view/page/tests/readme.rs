//! The picture in the README is one that the page draws.

use super::screen::{drawn, lines_of, page};
use super::stories::trouble;

#[test]
fn readme_shows_the_current_page() {
    let readme = include_str!("../../../../../README.md");
    let mut lines = lines_of(&drawn(&page(&trouble()), 99, 24));
    lines.dedup_by(|one, other| one.is_empty() && other.is_empty());
    let picture = format!("```\n{}\n```\n", lines.join("\n"));
    assert!(readme.contains(&picture), "the picture of the page in README.md is to be this one:\n\n{picture}");
}
