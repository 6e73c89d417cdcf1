//! Rules: `Debug` of the core shows no bytes, and the canary tests list every type and every output that could show a secret.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Token, tokens};
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

/// The test with the list of types.
const DEBUG_OUTPUT: &str = "tests/it/canary/core_types.rs";
/// The test with the runs for each output.
const OUTPUTS: &str = "tests/it/canary/outputs.rs";
/// Modules of the core that see traffic. The other modules get only data that these modules pass on.
const SEES_TRAFFIC: &[&str] =
    &["capture", "exchange", "http", "k8s", "logs", "metrics", "observation", "observer", "reflector", "storm", "redacted", "wire"];
/// Types whose byte fields `Debug` may show, each with the reason.
const SHOWN: &[(&str, &str, &str)] = &[
    ("observer/core/src/http/h2/hpack/field_line.rs", "Value", "text of fields on the allow-list, and methods"),
    ("observer/core/src/http/websocket/header.rs", "Header", "the mask, which is nothing without the payload"),
    ("observer/core/src/http/websocket/payload.rs", "Payload", "the mask, which is nothing without the payload"),
    ("observer/core/src/wire/protobuf/message.rs", "Part", "names of fields that are constants of ours"),
];
/// Names of functions and types with which a program creates something that others can read.
const OPENERS: &[&str] = &[
    "File",
    "OpenOptions",
    "TcpListener",
    "UdpSocket",
    "UnixListener",
    "create_dir",
    "private_file",
    "set_hook",
    "stderr",
    "stdout",
    "tempdir",
    "tempfile",
];

/// A `struct` or an `enum`, as tokens.
struct Definition<'t> {
    file: &'t SourceFile,
    name: &'t str,
    line: usize,
    derives_debug: bool,
    body: Vec<Token<'t>>,
}

/// All definitions of a file except those in its tests.
fn definitions<'t>(file: &'t SourceFile, code: &'t str) -> Vec<Definition<'t>> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut derives_debug = false;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.text {
            "#" => {
                let attribute = balanced(&tokens, at + 1);
                let words: Vec<&str> = tokens[at..attribute].iter().map(|token| token.text).collect();
                derives_debug |= words.contains(&"derive") && words.contains(&"Debug");
                at = attribute;
                continue;
            }
            "struct" | "enum" => {
                let end = end_of_definition(&tokens, at);
                if let Some(name) = tokens.get(at + 1).filter(|name| name.is_word()) {
                    let body = tokens.get(at + 2..end).unwrap_or_default().to_vec();
                    found.push(Definition { file, name: name.text, line: token.line, derives_debug, body });
                }
                derives_debug = false;
                at = end;
                continue;
            }
            "fn" | "impl" | "trait" | "const" | "static" | "mod" | "use" => derives_debug = false,
            _ => {}
        }
        at += 1;
    }
    found
}

/// The position after the bracket that closes the one at `open`.
fn balanced(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The position after the `}` or `;` that ends the definition at `start`.
fn end_of_definition(tokens: &[Token<'_>], start: usize) -> usize {
    let mut at = start;
    while let Some(token) = tokens.get(at) {
        match token.text {
            ";" => return at + 1,
            "{" => return balanced(tokens, at),
            "(" | "[" => at = balanced(tokens, at),
            _ => at += 1,
        }
    }
    tokens.len()
}

/// The code of a file, without its tests and without `'static` text and bytes, which are constants.
fn code(file: &SourceFile) -> String {
    let without_tests = file.text.split("#[cfg(test)]").next().unwrap_or_default();
    without_tests.replace("&'static str", "&()").replace("&'static [u8]", "&()")
}

/// Violations: byte fields in a type that derives `Debug`.
fn shown_bytes(definition: &Definition<'_>) -> Vec<Violation> {
    if !definition.derives_debug || SHOWN.iter().any(|(path, name, _)| *path == definition.file.path && *name == definition.name) {
        return Vec::new();
    }
    let words: Vec<&str> = definition.body.iter().map(|token| token.text).collect();
    let is_shown = |at: usize| {
        let before = |back: usize| at.checked_sub(back).and_then(|at| words.get(at)).copied().unwrap_or_default();
        let holder = match (before(2), before(1)) {
            ("Vec" | "VecDeque", "<") => 2,
            (_, "[") => 1,
            _ => return false,
        };
        // `Redacted<Vec<u8>>`, `Redacted<[u8; 9]>` and `Redacted<&[u8]>` are allowed. A lifetime in the last one is not a token.
        let around = [before(holder + 1), before(holder + 2), before(holder + 3), before(holder + 4)];
        !(around[0] == "<" && around[1] == "Redacted" || around[1] == "<" && around[2] == "Redacted" || around[3] == "Redacted")
    };
    let shown = definition.body.iter().enumerate().filter(|(at, token)| token.text == "u8" && is_shown(*at));
    shown
        .map(|(_, token)| {
            Violation::at(definition.file, token.line, format!("`{}` derives Debug and holds bytes", definition.name))
        })
        .collect()
}

/// The names of types that may hold text or bytes from outside, directly or within a field.
fn holders_of_text<'t>(definitions: &[Definition<'t>]) -> BTreeSet<&'t str> {
    let mut holders: BTreeSet<&str> = ["String", "str", "Redacted", "HeldBytes"].into();
    loop {
        let more = definitions.iter().filter(|one| one.body.iter().any(|token| holders.contains(token.text)));
        let more: BTreeSet<&str> = more.map(|one| one.name).collect();
        let before = holders.len();
        holders.extend(more);
        if holders.len() == before {
            return holders;
        }
    }
}

/// The names that each module's `mod.rs` exports.
fn exported<'t>(files: &[&'t SourceFile]) -> BTreeMap<&'t str, BTreeSet<&'t str>> {
    let mut exported: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in files {
        let module = file.module();
        let Some(first) = module.first().filter(|_| file.path.ends_with("/mod.rs")) else { continue };
        let tokens = tokens(&file.text);
        for (at, _) in tokens.windows(2).enumerate().filter(|(_, pair)| pair[0].text == "pub" && pair[1].text == "use") {
            let names = tokens[at..].iter().take_while(|token| token.text != ";").map(|token| token.text);
            exported.entry(first).or_default().extend(names.filter(|name| name.starts_with(char::is_uppercase)));
        }
    }
    exported
}

/// Violations: types that the test does not list.
fn unlisted(files: &[&SourceFile], list: &str) -> Vec<Violation> {
    let codes: Vec<String> = files.iter().map(|file| code(file)).collect();
    let definitions: Vec<_> = files.iter().zip(&codes).flat_map(|(file, code)| definitions(file, code)).collect();
    let (holders, exported) = (holders_of_text(&definitions), exported(files));
    let mut violations = Vec::new();
    for one in definitions.iter().filter(|one| one.derives_debug && holders.contains(one.name)) {
        let module = one.file.module();
        let Some(module) = module.first().filter(|module| SEES_TRAFFIC.contains(module)) else { continue };
        let is_exported = exported.get(module).is_some_and(|names| names.contains(one.name));
        let name = format!("{module}::{}", one.name);
        if is_exported && !list.contains(&format!("\"{name}\"")) {
            violations.push(Violation::at(one.file, one.line, format!("\"{name}\" is not in the list")));
        }
    }
    violations
}

/// Violations: files that open something, and that the test does not list.
fn unwatched(files: &[&SourceFile], list: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| !file.path.contains("/tests")) {
        let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
        let tokens = tokens(code);
        let opener = tokens.iter().enumerate().find(|(at, token)| OPENERS.contains(&token.text) || is_fs_write(&tokens[..=*at]));
        let opener = opener.map(|(_, token)| token);
        if let Some(opener) = opener.filter(|_| !list.contains(&format!("\"{}\"", file.path))) {
            violations.push(Violation::at(file, opener.line, format!("uses `{}`, and {OUTPUTS} does not list it", opener.text)));
        }
    }
    violations
}

/// Whether the tokens end with `fs::write`, which opens and writes in one call. The word `write` alone is too common.
fn is_fs_write(until: &[Token<'_>]) -> bool {
    matches!(until, [.., fs, colons, write] if [fs.text, colons.text, write.text] == ["fs", "::", "write"])
}

fn core_files(tree: &Tree) -> Vec<&SourceFile> {
    let files = tree.rust_files_below("observer/core/src/");
    files.into_iter().filter(|file| !file.path.contains("/tests")).collect()
}

#[test]
fn debug_of_the_core_shows_no_bytes() {
    let tree = Tree::read();
    let files = core_files(&tree);
    let codes: Vec<String> = files.iter().map(|file| code(file)).collect();
    let definitions = files.iter().zip(&codes).flat_map(|(file, code)| definitions(file, code));
    let violations: Vec<_> = definitions.flat_map(|one| shown_bytes(&one)).collect();
    assert_none(
        &violations,
        "wrap the bytes in `Redacted`, which shows their number: a list of numbers is as good as the secret itself",
    );
}

#[test]
fn types_that_hold_text_are_printed_by_the_canary_test() {
    let tree = Tree::read();
    let violations = unlisted(&core_files(&tree), &tree.file(DEBUG_OUTPUT).text);
    assert_none(
        &violations,
        "add the name to TYPES of tests/it/canary/core_types.rs, and print such a value there after each piece of canary traffic",
    );
}

#[test]
fn outputs_are_searched_by_the_canary_test() {
    let tree = Tree::read();
    let violations = unwatched(&tree.rust_files_below("observer/src/"), &tree.file(OUTPUTS).text);
    assert_none(
        &violations,
        "name the file in tests/it/canary/outputs.rs with the run whose leavings it makes, and make sure that this run comes through it",
    );
}

#[test]
fn bytes_in_debug_are_caught() {
    let text =
        "#[derive(Debug)]\nstruct A {\n    a: Vec<u8>,\n    b: [u8; 4],\n    c: &'a [u8],\n    d: u8,\n    e: Option<u8>,\n}";
    let file = SourceFile::new("observer/core/src/http/a.rs", text);
    let code = code(&file);
    let found: Vec<_> = definitions(&file, &code).iter().flat_map(shown_bytes).collect();
    let line = |line| format!("{line}: `A` derives Debug and holds bytes");
    assert_found(&found, &[&*line(3), &*line(4), &*line(5)]);
}

#[test]
fn redacted_and_unprinted_bytes_are_allowed() {
    let text = "#[derive(Clone, Debug)]\npub struct A<'a>(Redacted<Vec<u8>>, Redacted<[u8; 9]>, Redacted<&'a [u8]>, &'static [u8]);\nstruct B(Vec<u8>);";
    let file = SourceFile::new("observer/core/src/http/a.rs", text);
    let code = code(&file);
    assert_eq!(definitions(&file, &code).len(), 2);
    assert_found(&definitions(&file, &code).iter().flat_map(shown_bytes).collect::<Vec<_>>(), &[]);
}

#[test]
fn types_with_nested_text_are_caught() {
    let inner =
        SourceFile::new("observer/core/src/wire/inner.rs", "#[derive(Debug)]\nstruct Inner { name: String }\nstruct Plain(u8);");
    let outer = "#[derive(Debug)]\npub enum Outer { One(Box<Inner>) }\n#[derive(Debug)]\npub struct Other(Plain);";
    let outer = SourceFile::new("observer/core/src/wire/outer.rs", outer);
    let module = SourceFile::new("observer/core/src/wire/mod.rs", "mod inner;\npub use outer::{Other, Outer};");
    let files = [&inner, &outer, &module];
    assert_found(&unlisted(&files, "\"http::Outer\""), &["2: \"wire::Outer\" is not in the list"]);
    assert_found(&unlisted(&files, "\"wire::Outer\""), &[]);
}

#[test]
fn unsearched_outputs_are_caught() {
    let text = "fn a() {}\nfn b() { std::fs::OpenOptions::new(); }\n#[cfg(test)]\nmod tests { fn c() { File::open(\"x\"); } }";
    let file = SourceFile::new("observer/src/view/web.rs", text);
    let expected = format!("2: uses `OpenOptions`, and {OUTPUTS} does not list it");
    assert_found(&unwatched(&[&file], ""), &[&*expected]);
    assert_found(&unwatched(&[&file], "\"observer/src/view/web.rs\""), &[]);
    let file = SourceFile::new("observer/src/view/web.rs", "fn a() { out.write(b); }\nfn b() { std::fs::write(file, bytes); }");
    let expected = format!("2: uses `write`, and {OUTPUTS} does not list it");
    assert_found(&unwatched(&[&file], ""), &[&*expected]);
}
