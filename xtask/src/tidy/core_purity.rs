//! Rule: the core does not reach a socket, file, process, thread, environment or clock through the standard library.

use super::references::references;
use super::tokens::tokens;
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

/// Modules of `std` with which a program does I/O or waits.
const IMPURE_MODULES: &[&str] = &["env", "fs", "net", "os", "process", "thread"];

/// The clocks of `std::time`; `Duration` is only a number and allowed.
const CLOCKS: &[&str] = &["Instant", "SystemTime"];

/// Violations in a file. Modules named `tests` are excepted, since they may read fixtures.
fn impurities(file: &SourceFile) -> Vec<Violation> {
    let uses = references(file);
    let outside_tests = uses.iter().filter(|reference| !reference.in_tests);
    let modules = outside_tests.filter_map(|reference| match reference.segments.as_slice() {
        ["std", module, ..] if IMPURE_MODULES.contains(module) => Some(Violation::at(file, reference.line, reference.path())),
        _ => None,
    });
    let words = tokens(&file.text);
    let clocks = words.iter().filter(|word| CLOCKS.contains(&word.text)).map(|word| Violation::at(file, word.line, word.text));
    modules.chain(clocks).collect()
}

#[test]
fn core_uses_no_sockets_files_or_clocks() {
    let tree = Tree::read();
    let violations: Vec<_> = tree.rust_files_below("observer/core/src/").into_iter().flat_map(impurities).collect();
    assert_none(&violations, "time, bytes and configuration are arguments of the core; what acts belongs into `observer`");
}

#[test]
fn sockets_files_and_clocks_are_caught() {
    let text = "use std::{fmt, net::TcpStream};\nuse std::time::{Duration, Instant};\nfn f() { std::fs::read(p); }\nmod tests { use std::fs; }";
    let file = SourceFile::new("observer/core/src/http/event.rs", text);
    assert_found(&impurities(&file), &["1: std::net::TcpStream", "3: std::fs::read", "2: Instant"]);
}
