//! A small lexer for the rules: splits Rust text into words and punctuation, without comments, strings and character literals.

/// A word, a `::`, or one other character, with its line counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(is_word_start)
    }
}

pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut rest = text;
    let mut line = 1;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (length, is_token) = next(rest);
        let (taken, after) = rest.split_at(length);
        if is_token {
            found.push(Token { text: taken, line });
        }
        line += taken.matches('\n').count();
        rest = after;
    }
    found
}

/// The string literals of `text`, with prefix and quotes, and the lines where they begin.
pub(crate) fn string_literals(text: &str) -> Vec<Token<'_>> {
    let mut rest = text;
    let mut line = 1;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let is_literal = string(rest).is_some();
        let (taken, after) = rest.split_at(next(rest).0);
        if is_literal {
            found.push(Token { text: taken, line });
        }
        line += taken.matches('\n').count();
        rest = after;
    }
    found
}

/// The length of the next piece of `rest`, and whether it is a token.
fn next(rest: &str) -> (usize, bool) {
    let first = rest.chars().next().map_or(1, char::len_utf8);
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), false);
    }
    if rest.starts_with("/*") {
        return (block_comment(rest), false);
    }
    if let Some(length) = string(rest) {
        return (length, false);
    }
    if rest.starts_with('\'') {
        return (character_or_lifetime(rest), false);
    }
    if rest.starts_with(is_word_start) {
        return (rest.find(|c| !is_word_part(c)).unwrap_or(rest.len()), true);
    }
    if rest.starts_with("::") {
        return (2, true);
    }
    (first, !rest.starts_with(char::is_whitespace))
}

fn is_word_start(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_word_part(c: char) -> bool {
    is_word_start(c)
}

/// The length of a block comment. Block comments can be nested.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// The length of a string literal of any kind, prefix included.
fn string(rest: &str) -> Option<usize> {
    for prefix in ["br", "cr", "r"] {
        if let Some(length) = rest.strip_prefix(prefix).and_then(raw_string) {
            return Some(prefix.len() + length);
        }
    }
    let after = rest.strip_prefix(['b', 'c']).filter(|after| after.starts_with('"')).unwrap_or(rest);
    after.starts_with('"').then(|| rest.len() - after.len() + quoted(after))
}

/// The length from the first quote to the last.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, c)| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The length of a raw string from the first `#` or `"` on, or `None` if it is a raw identifier (`r#type`).
fn raw_string(after: &str) -> Option<usize> {
    let hashes = after.len() - after.trim_start_matches('#').len();
    if !after[hashes..].starts_with('"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let body = hashes + 1;
    Some(after[body..].find(&close).map_or(after.len(), |at| body + at + close.len()))
}

fn character_or_lifetime(rest: &str) -> usize {
    let inside = &rest[1..];
    if let Some(escape) = inside.strip_prefix('\\') {
        let escaped = escape.chars().next().map_or(0, char::len_utf8);
        return escape[escaped..].find('\'').map_or(rest.len(), |at| 2 + escaped + at + 1);
    }
    let first = inside.chars().next().map_or(0, char::len_utf8);
    if inside[first..].starts_with('\'') {
        return 1 + first + 1;
    }
    1 + inside.find(|c| !is_word_part(c)).unwrap_or(inside.len())
}

#[test]
fn comments_strings_and_characters_yield_no_tokens() {
    let text = r#"
        // use a::b
        /* todo!() /* nested */ still */
        let s = "say \"use x\" \\"; let b = b"use z";
        let c = ('"', '\'', '\u{1F600}', 'x', "é");
        fn f<'a>(x: &'a str) {}
    "#;
    let words: Vec<&str> = tokens(text).iter().filter(|token| token.is_word()).map(|token| token.text).collect();
    assert_eq!(words, ["let", "s", "let", "b", "let", "c", "fn", "f", "x", "str"]);
}

#[test]
fn raw_strings_end_at_their_own_number_of_hashes() {
    let words: Vec<&str> = tokens("r##\"a \"# b\"## c br\"\\\" d").iter().map(|token| token.text).collect();
    assert_eq!(words, ["c", "d"]);
}

#[test]
fn tokens_know_their_lines() {
    let found = tokens("a::b /* \n\n */ ; // c\nr#type");
    let pairs: Vec<(&str, usize)> = found.iter().map(|token| (token.text, token.line)).collect();
    assert_eq!(pairs, [("a", 1), ("::", 1), ("b", 1), (";", 3), ("r", 4), ("#", 4), ("type", 4)]);
}

#[test]
fn string_literals_are_found_with_their_lines() {
    let text = "// \"no\"\nlet a = \"one \\\" more\";\nlet c = '\"'; r#\"raw\"#";
    let found: Vec<_> = string_literals(text).iter().map(|literal| (literal.line, literal.text)).collect();
    assert_eq!(found, [(2, "\"one \\\" more\""), (3, "r#\"raw\"#")]);
}
