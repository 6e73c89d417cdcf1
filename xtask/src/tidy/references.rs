//! Finds the paths that a Rust file mentions, in `use` declarations and in expressions, with `self` and `super` resolved.

use super::tokens::{Token, tokens};
use super::tree::SourceFile;

/// A path that a file mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference<'a> {
    /// The segments; a path into the file's own crate starts with `crate`.
    pub(crate) segments: Vec<&'a str>,
    pub(crate) line: usize,
    /// Whether it is in a module named `tests`.
    pub(crate) in_tests: bool,
    /// The local name, if the path is imported by a `use`.
    pub(crate) imported_as: Option<&'a str>,
}

impl Reference<'_> {
    pub(crate) fn path(&self) -> String {
        self.segments.join("::")
    }
}

/// All paths of `file` with at least two segments, and all imports.
pub(crate) fn references(file: &SourceFile) -> Vec<Reference<'_>> {
    let mut walk =
        Walk { tokens: tokens(&file.text), at: 0, braces: 0, module: file.module(), inline: Vec::new(), found: Vec::new() };
    while walk.at < walk.tokens.len() {
        walk.step();
    }
    walk.found
}

struct Walk<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    braces: usize,
    /// The current module, including inline modules.
    module: Vec<&'a str>,
    /// For each open inline module, the number of braces that were open before it.
    inline: Vec<usize>,
    found: Vec<Reference<'a>>,
}

impl<'a> Walk<'a> {
    fn step(&mut self) {
        match self.text(0) {
            "mod" if self.text(2) == "{" => {
                self.inline.push(self.braces);
                self.module.push(self.text(1));
                self.at += 2;
            }
            "{" => {
                self.braces += 1;
                self.at += 1;
            }
            "}" => {
                self.braces = self.braces.saturating_sub(1);
                self.at += 1;
                if self.inline.last() == Some(&self.braces) {
                    self.inline.pop();
                    self.module.pop();
                }
            }
            // `impl Trait + use<'a>` imports nothing.
            "use" if self.text(1) != "<" => {
                self.at += 1;
                self.use_tree(&[]);
            }
            _ if self.begins_path() => self.expression_path(),
            _ => self.at += 1,
        }
    }

    fn text(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text)
    }

    fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(Token::is_word)
    }

    /// Whether a path begins here: a word with `::` after it and no path before it. A leading `::` is part of the path.
    fn begins_path(&self) -> bool {
        self.is_word(self.at) && self.text(1) == "::" && !self.follows_path()
    }

    /// Whether the preceding tokens are a path that continues here: `a::` or `<T>::`, but not the `::` in `-> ::a`.
    fn follows_path(&self) -> bool {
        let mut before = self.tokens[..self.at].iter().rev();
        if before.next().is_none_or(|token| token.text != "::") {
            return false;
        }
        match before.next() {
            Some(token) if token.text == ">" => before.next().is_none_or(|token| token.text != "-"),
            Some(token) => token.is_word(),
            None => false,
        }
    }

    fn expression_path(&mut self) {
        let line = self.tokens[self.at].line;
        let mut segments = vec![self.text(0)];
        self.at += 1;
        while self.text(0) == "::" && self.is_word(self.at + 1) {
            segments.push(self.text(1));
            self.at += 2;
        }
        // `collect::<Vec<_>>()` is a call.
        if segments.len() > 1 {
            self.record(&segments, line, None);
        }
    }

    /// One tree of a `use` declaration, below `prefix`; ends at the following `;`, `,` or `}`.
    fn use_tree(&mut self, prefix: &[&'a str]) {
        let line = self.tokens.get(self.at).map_or(0, |token| token.line);
        let mut path = prefix.to_vec();
        let mut alias = None;
        loop {
            match self.text(0) {
                "::" => self.at += 1,
                "{" => return self.use_group(&path),
                "as" => {
                    alias = Some(self.text(1));
                    self.at += 2;
                }
                "self" if !path.is_empty() => self.at += 1,
                "*" => {
                    path.push("*");
                    self.at += 1;
                }
                word if self.is_word(self.at) => {
                    path.push(word);
                    self.at += 1;
                }
                _ => break,
            }
        }
        let name = alias.or(path.last().copied());
        self.record(&path, line, name);
    }

    fn use_group(&mut self, prefix: &[&'a str]) {
        self.at += 1;
        while !matches!(self.text(0), "}" | "") {
            let before = self.at;
            self.use_tree(prefix);
            if self.text(0) == "," || self.at == before {
                self.at += 1;
            }
        }
        self.at += 1;
    }

    fn record(&mut self, segments: &[&'a str], line: usize, imported_as: Option<&'a str>) {
        let segments = self.resolve(segments);
        let in_tests = self.module.contains(&"tests");
        self.found.push(Reference { segments, line, in_tests, imported_as });
    }

    fn resolve(&self, segments: &[&'a str]) -> Vec<&'a str> {
        let supers = segments.iter().take_while(|&&segment| matches!(segment, "super" | "self")).count();
        if supers == 0 {
            return segments.to_vec();
        }
        let (up, down) = segments.split_at(supers);
        let levels = up.iter().filter(|&&segment| segment == "super").count();
        let base = self.module.len().saturating_sub(levels);
        ["crate"].iter().chain(&self.module[..base]).chain(down).copied().collect()
    }
}

#[test]
fn use_trees_are_expanded() {
    assert_paths(
        "pub use crate::{k8s::{self, Verb as V}, time::*};\nuse http::Method;\nuse std::fmt;",
        &["crate::k8s", "crate::k8s::Verb", "crate::time::*", "http::Method", "std::fmt"],
    );
}

#[test]
fn paths_in_expressions_and_types_are_found() {
    assert_paths(
        "fn f(a: crate::wire::Fact) -> ::http::Method { <crate::k8s::Verb as Default>::default(); a.b::<std::io::Error>() }",
        &["crate::wire::Fact", "http::Method", "crate::k8s::Verb", "std::io::Error"],
    );
}

#[test]
fn super_and_self_are_resolved_to_the_crate() {
    assert_paths(
        "use super::super::wire::Fact;\nuse self::x::Y;\nmod tests { use super::*; use super::super::frame; } use super::z;",
        &["crate::wire::Fact", "crate::http::event::x::Y", "crate::http::event::*", "crate::http::frame", "crate::http::z"],
    );
}

#[test]
fn comments_and_precise_captures_are_not_references() {
    assert_paths("//! See [`crate::wire`].\nfn f<'a>() -> impl Iterator<Item = u8> + use<'a> {}", &[]);
}

#[test]
fn references_record_tests_and_aliases() {
    let file = SourceFile::new("observer/core/src/http/event.rs", "use a::b as c; mod tests { use d::e; }");
    let found: Vec<_> = references(&file).iter().map(|reference| (reference.imported_as, reference.in_tests)).collect();
    assert_eq!(found, [(Some("c"), false), (Some("e"), true)]);
}

#[track_caller]
fn assert_paths(text: &str, expected: &[&str]) {
    let file = SourceFile::new("observer/core/src/http/event.rs", text);
    let found: Vec<String> = references(&file).iter().map(Reference::path).collect();
    assert_eq!(found, expected);
}
