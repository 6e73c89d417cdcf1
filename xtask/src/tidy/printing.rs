//! Rule: all output passes through `observer/src/printable`, which replaces terminal control characters. No other code of the
//! product opens a standard stream, prints, or opens a file for writing.

use super::tokens::{Token, tokens};
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

/// The folder of the gate.
const GATE: &str = "observer/src/printable/";
/// The excepted files, each with the content that it writes.
const BESIDE: &[(&str, &str)] = &[
    ("observer/src/capture/file.rs", "captures, which are data"),
    ("observer/src/cli/output.rs", "files of text, which leave it as a `Printer`"),
    ("observer/src/injected_fault.rs", "in debug builds with its feature only"),
    ("observer/src/kubeconfig/run_folder.rs", "kubeconfigs and certificates for clients, which are data"),
    ("observer/src/private_file.rs", "nothing: it opens files for the others"),
    ("observer/src/terminal/note_file.rs", "notes of the page, by a `Printer`"),
    ("observer/src/terminal/screen.rs", "the page, all of whose text `Canvas` gates"),
];
/// Macros that print.
const MACROS: &[&str] = &["dbg", "eprint", "eprintln", "print", "println"];
/// The last segments of paths of functions that open a file for writing.
const OPENERS: &[[&str; 3]] = &[
    ["File", "::", "create"],
    ["File", "::", "create_new"],
    ["File", "::", "options"],
    ["OpenOptions", "::", "new"],
    ["fs", "::", "copy"],
    ["fs", "::", "write"],
    ["private_file", "::", "create"],
    ["private_file", "::", "create_numbered"],
];

/// The tokens of a file, without its tests.
fn code(file: &SourceFile) -> Vec<Token<'_>> {
    tokens(file.text.split("#[cfg(test)]").next().unwrap_or_default())
}

fn is_test(file: &SourceFile) -> bool {
    file.path.contains("/tests/") || file.path.ends_with("/tests.rs")
}

fn printing(file: &SourceFile) -> Vec<Violation> {
    if is_test(file) || file.path.starts_with(GATE) || BESIDE.iter().any(|(path, _)| *path == file.path) {
        return Vec::new();
    }
    let tokens = code(file);
    let found = (0..tokens.len()).filter_map(|at| Some((tokens.get(at)?.line, what(tokens.get(at..)?)?)));
    found.map(|(line, what)| Violation::at(file, line, what)).collect()
}

/// Describes the operation at the start of `tokens` if only the gate may use it.
fn what(tokens: &[Token<'_>]) -> Option<String> {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let three = [word(0), word(1), word(2)];
    match three {
        [name, "!", _] if MACROS.contains(&name) => Some(format!("`{name}!` prints")),
        ["io", "::", "{"] => {
            let mut names = tokens.iter().map(|token| token.text).take_while(|text| *text != "}");
            names.find(is_stream).map(|name| format!("uses `io::{name}`"))
        }
        ["io", "::", name] if is_stream(&name) => Some(format!("uses `io::{name}`")),
        [".", "print", "("] if word(3) == ")" => Some("clap's `print` has no gate".to_owned()),
        [".", "exit", "("] if word(3) == ")" => Some("clap's `exit` has no gate".to_owned()),
        [".", "print_help" | "print_long_help", "("] => Some("clap's help has no gate".to_owned()),
        _ if OPENERS.contains(&three) => Some(format!("`{}` opens a file for writing", three.concat())),
        _ => None,
    }
}

fn is_stream(name: &&str) -> bool {
    matches!(*name, "stdout" | "stderr" | "Stdout" | "Stderr" | "StdoutLock" | "StderrLock")
}

#[test]
fn text_is_printed_only_through_the_printer() {
    let tree = Tree::read();
    let violations: Vec<_> = tree.rust_files_below("observer/src/").into_iter().flat_map(printing).collect();
    assert_none(
        &violations,
        "print a `Printable` with a `Printer` of crate::printable: text of strangers must not command a terminal",
    );
}

#[test]
fn printing_exceptions_exist_and_are_needed() {
    let tree = Tree::read();
    for (path, _) in BESIDE {
        let bare = SourceFile::new("observer/src/somewhere.rs", &tree.file(path).text);
        assert!(!printing(&bare).is_empty(), "{path} needs no exception: take it off the list");
    }
}

#[test]
fn other_ways_to_print_are_caught() {
    let text = "use std::io::{self, Write, stderr};\nfn a() { writeln!(io::stdout(), \"x\"); }\nfn b() { println!(); eprint!(); }\n\
        fn c() { error.print(); out.print(&text); command.stdout(Stdio::piped()); }\nfn d() { std::fs::write(a, b); File::create(a); File::open(a); }\n\
        #[cfg(test)]\nmod tests { fn e() { println!(); } }";
    let expected = [
        "1: uses `io::stderr`",
        "2: uses `io::stdout`",
        "3: `println!` prints",
        "3: `eprint!` prints",
        "4: clap's `print` has no gate",
        "5: `fs::write` opens a file for writing",
        "5: `File::create` opens a file for writing",
    ];
    assert_found(&printing(&SourceFile::new("observer/src/view/web.rs", text)), &expected);
    assert_found(&printing(&SourceFile::new("observer/src/printable/streams.rs", text)), &[]);
}
