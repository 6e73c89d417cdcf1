//! Rule: no unfinished code: no ignored tests, no `todo!`, no `unimplemented!`.

use super::tokens::{Token, tokens};
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

fn unfinished(file: &SourceFile) -> Vec<Violation> {
    let tokens = tokens(&file.text);
    let macros = tokens.windows(2).filter_map(|pair| match pair {
        [name, bang] if matches!(name.text, "todo" | "unimplemented") && bang.text == "!" => {
            Some(Violation::at(file, name.line, format!("{}!", name.text)))
        }
        _ => None,
    });
    let ignored = ignores(&tokens).into_iter().map(|line| Violation::at(file, line, "an ignored test"));
    macros.chain(ignored).collect()
}

/// The lines of attributes with `ignore`, alone or in a `cfg_attr`.
fn ignores(tokens: &[Token<'_>]) -> Vec<usize> {
    let mut lines = Vec::new();
    let mut is_attribute = false;
    for pair in tokens.windows(2) {
        let [before, token] = pair else { continue };
        match (before.text, token.text) {
            ("#", "[") => is_attribute = true,
            (_, "]") => is_attribute = false,
            ("[" | ",", "ignore") if is_attribute => lines.push(token.line),
            _ => {}
        }
    }
    lines
}

#[test]
fn code_has_no_placeholders_or_ignored_tests() {
    let tree = Tree::read();
    let violations: Vec<_> = tree.rust_files_below("").into_iter().flat_map(unfinished).collect();
    assert_none(
        &violations,
        "a test that cannot run everywhere belongs to a group of `cargo xtask test`, which names it when it is left out; what is not \
         built yet has no code yet",
    );
}

#[test]
fn ignored_tests_and_placeholders_are_caught() {
    let text = "#[test]\n#[ignore = \"slow\"]\nfn a() { todo!() }\n#[cfg_attr(unix, ignore)]\nfn b() { unimplemented!(\"b\") }";
    let file = SourceFile::new("a/src/b.rs", text);
    assert_found(&unfinished(&file), &["3: todo!", "5: unimplemented!", "2: an ignored test", "4: an ignored test"]);
}

#[test]
fn placeholders_in_comments_and_strings_are_allowed() {
    let text = "// todo!() and #[ignore] in a comment\nfn a(todo: bool) { let s = \"todo!()\"; ignore(todo); }";
    assert_found(&unfinished(&SourceFile::new("a/src/b.rs", text)), &[]);
}
