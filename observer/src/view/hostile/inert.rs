//! The property of a Markdown document: untrusted text begins no markup, link, mention or reference.

/// Checks a document in which only watchtap's own words may be Markdown: headings, lists, bold labels, code and tables.
#[track_caller]
pub(super) fn inert(document: &str) {
    let mut in_command = false;
    let mut bars = None;
    for line in document.lines() {
        if line.starts_with("```") {
            in_command = line == "```sh";
            continue;
        }
        if in_command {
            assert!(line.starts_with("kubectl get --raw '/") && !line.contains('`'), "{line:?}");
            continue;
        }
        let line = without_code(line);
        for mark in ["<", ">", "[", "]", "`", "@", "$", "\\", "~", "://", "www."] {
            assert!(!line.to_lowercase().contains(mark), "{mark:?} in {line:?}");
        }
        assert!(!line.trim_start_matches('#').replace("&#", "").contains('#'), "a reference in {line:?}");
        assert!(!line.replace("**", "").contains(['*', '_']), "emphasis in {line:?}");
        assert_eq!(line.matches("**").count() % 2, 0, "unbalanced bold in {line:?}");
        let is_row = line.starts_with("| ");
        assert_eq!(is_row, line.contains('|'), "a bar in {line:?}");
        let found = line.matches('|').count();
        assert!(!is_row || bars.is_none_or(|bars| bars == found), "{found} bars in {line:?}");
        bars = is_row.then_some(found);
    }
    assert!(!in_command, "a command without an end");
}

/// Removes code spans and code elements. A code span must not contain a character that ends the span or a table cell.
#[track_caller]
fn without_code(line: &str) -> String {
    let mut rest = line;
    let mut text = String::new();
    while let Some(at) = rest.find('`').into_iter().chain(rest.find("<code>")).min() {
        text.push_str(&rest[..at]);
        let (begin, end) = if rest[at..].starts_with('`') { ("`", "`") } else { ("<code>", "</code>") };
        let (code, further) = rest[at + begin.len()..].split_once(end).expect("code ends on its line");
        assert!(!code.contains(['|', '\\', '`']), "{line:?}");
        rest = further;
    }
    text + rest
}

#[test]
#[should_panic(expected = "a bar in")]
fn bar_of_a_stranger_is_caught() {
    inert("a|b");
}

#[test]
#[should_panic(expected = "bars in")]
fn cell_of_a_stranger_is_caught() {
    inert("| a | b |\n| --- | --- |\n| x | y | z |");
}

#[test]
#[should_panic(expected = "\"<\" in")]
fn element_of_a_stranger_is_caught() {
    inert("a <img src=x>");
}

#[test]
#[should_panic(expected = "a reference in")]
fn reference_of_a_stranger_is_caught() {
    inert("fixes #1");
}
