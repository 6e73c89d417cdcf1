//! GitHub-flavoured Markdown, for comments on pull requests and similar documents.
//!
//! Names, selectors and messages are untrusted text. In [`Inline::text`] and [`Inline::code`], they cannot become Markdown, HTML,
//! links, mentions or references: <https://github.github.com/gfm/>. [`Printable`] replaces line breaks and control characters.

use std::fmt::{Display, Write as _};

use crate::printable::Printable;

/// Longest untrusted text in one place, in characters.
const MAX_TEXT: usize = 200;
/// Characters that may begin Markdown or HTML within a line.
const ACTIVE: &str = "\\`*_[]<>&|~";
/// Characters with which GitHub makes mentions, references and formulas out of plain text, but not out of code.
const NAMING: &str = "@#$";

/// A part of a line, safe in Markdown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Inline(String);

impl Inline {
    /// Constant Markdown of watchtap, unchanged.
    pub(super) fn words(markdown: &'static str) -> Self {
        Self(markdown.to_owned())
    }

    /// Any text, shown as it is.
    pub(super) fn text(text: impl Display) -> Self {
        let text = cut(&text.to_string());
        let mut safe = String::with_capacity(text.len());
        let mut rest = text.chars().peekable();
        while let Some(character) = rest.next() {
            let begins_link = match character {
                ':' => rest.peek() == Some(&'/'),
                '.' => safe.len() >= 3 && safe.get(safe.len() - 3..).is_some_and(|end| end.eq_ignore_ascii_case("www")),
                _ => false,
            };
            if NAMING.contains(character) {
                let _infallible = write!(safe, "<code>{}</code>", encoded(character));
            } else if ACTIVE.contains(character) || begins_link {
                safe.push_str(&encoded(character));
            } else {
                safe.push(character);
            }
        }
        Self(safe)
    }

    /// Any text, as code. A text with backticks, bars or backslashes becomes a code element, because a code span in a table cannot
    /// contain them.
    pub(super) fn code(text: impl Display) -> Self {
        let text = cut(&text.to_string());
        if !text.is_empty() && text.trim() == text && !text.contains(['`', '|', '\\']) {
            return Self(format!("`{text}`"));
        }
        let mut safe = "<code>".to_owned();
        for character in text.chars() {
            if character.is_ascii_punctuation() {
                safe.push_str(&encoded(character));
            } else {
                safe.push(character);
            }
        }
        Self(safe + "</code>")
    }

    /// Any text, in bold.
    pub(super) fn bold(text: impl Display) -> Self {
        Self::words("**").and(Self::text(text)).and(Self::words("**"))
    }

    /// This part, followed by another one.
    #[must_use]
    pub(super) fn and(self, Self(next): Self) -> Self {
        Self(self.0 + &next)
    }
}

/// A column of a table: its alignment and its heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Left(&'static str),
    Right(&'static str),
}

/// A document, line by line.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    out: Printable,
    lines: usize,
}

impl Markdown {
    /// A paragraph of one line.
    pub(super) fn paragraph(&mut self, line: &Inline) {
        self.blank();
        self.line(line);
    }

    /// A list with one line per item. A last line counts the items beyond `most`.
    pub(super) fn list(&mut self, items: &[Inline], most: usize) {
        if items.is_empty() {
            return;
        }
        self.blank();
        for item in items.iter().take(most) {
            self.line(&Inline::words("- ").and(item.clone()));
        }
        if items.len() > most {
            self.line(&Inline::words("- … and ").and(Inline::text(items.len() - most)).and(Inline::words(" more")));
        }
    }

    /// A table. Rows beyond `most` are counted below it.
    pub(super) fn table(&mut self, columns: &[Column], rows: &[Vec<Inline>], most: usize) {
        if rows.is_empty() {
            return;
        }
        self.blank();
        let row = |cells: Vec<Inline>| {
            let cells: Vec<String> = cells.into_iter().map(|cell| cell.0).collect();
            Inline(format!("| {} |", cells.join(" | ")))
        };
        let (names, rulers): (Vec<Inline>, Vec<Inline>) = columns.iter().map(|column| column.heading()).unzip();
        self.line(&row(names));
        self.line(&row(rulers));
        for cells in rows.iter().take(most) {
            self.line(&row(cells.clone()));
        }
        if rows.len() > most {
            let more = rows.len() - most;
            self.paragraph(&Inline::words("… and ").and(Inline::text(more)).and(Inline::words(" more (`--format json` has all)")));
        }
    }

    /// A command for a shell.
    pub(super) fn command(&mut self, command: &str) {
        self.blank();
        self.line(&Inline::words("```sh"));
        self.line(&Inline(command.to_owned()));
        self.line(&Inline::words("```"));
    }

    /// Appends a part that is already Markdown.
    pub(super) fn append(&mut self, part: &Printable) {
        self.blank();
        self.out.append(part);
        self.lines += part.as_str().lines().count();
    }

    pub(super) fn into_printable(self) -> Printable {
        self.out
    }

    fn blank(&mut self) {
        if self.lines > 0 {
            self.line(&Inline::default());
        }
    }

    fn line(&mut self, line: &Inline) {
        self.out.push_line(&line.0);
        self.lines += 1;
    }
}

impl Column {
    fn heading(self) -> (Inline, Inline) {
        match self {
            Self::Left(name) => (Inline::words(name), Inline::words("---")),
            Self::Right(name) => (Inline::words(name), Inline::words("---:")),
        }
    }
}

/// A character reference: the character as text, whatever it means in Markdown.
fn encoded(character: char) -> String {
    format!("&#{};", u32::from(character))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_stay_readable() {
        for name in ["my-controller/v0.34.2", "pods · all namespaces · limit=500", "app=nginx,tier in (a)", "deployments.apps"] {
            assert_eq!(Inline::text(name).0, name);
            assert_eq!(Inline::code(name).0, format!("`{name}`"));
        }
        assert_eq!(Inline::code("lists_from_etcd").0, "`lists_from_etcd`");
    }

    #[test]
    fn markup_of_strangers_is_text() {
        for (text, safe) in [
            ("a|b", "a&#124;b"),
            ("`x`", "&#96;x&#96;"),
            ("<img src=x>", "&#60;img src=x&#62;"),
            ("[x](http://e)", "&#91;x&#93;(http&#58;//e)"),
            ("WWW.example.com", "WWW&#46;example.com"),
            ("&lt;", "&#38;lt;"),
            ("@octocat", "<code>&#64;</code>octocat"),
            ("#1 $x$", "<code>&#35;</code>1 <code>&#36;</code>x<code>&#36;</code>"),
            ("\\|", "&#92;&#124;"),
        ] {
            assert_eq!(Inline::text(text).0, safe);
        }
    }

    #[test]
    fn code_of_strangers_stays_within_its_cell() {
        for (text, safe) in [
            ("<b>@octocat", "`<b>@octocat`"),
            ("a|b", "<code>a&#124;b</code>"),
            ("`", "<code>&#96;</code>"),
            ("\\", "<code>&#92;</code>"),
            ("", "<code></code>"),
            (" a", "<code> a</code>"),
        ] {
            assert_eq!(Inline::code(text).0, safe);
        }
    }

    #[test]
    fn long_texts_are_cut_before_they_are_encoded() {
        let long = "|".repeat(MAX_TEXT + 1);
        assert_eq!(Inline::text(&long).0, format!("{}…", "&#124;".repeat(MAX_TEXT)));
    }

    #[test]
    fn tables_and_lists_count_the_rest() {
        let mut document = Markdown::default();
        document.paragraph(&Inline::bold("three"));
        document.list(&["a", "b", "c"].map(Inline::words), 2);
        let rows: Vec<Vec<Inline>> = (1..4).map(|number| vec![Inline::text(number), Inline::code(number)]).collect();
        document.table(&[Column::Left("x"), Column::Right("y")], &rows, 1);
        document.command("kubectl version");
        let expected = "**three**\n\n- a\n- b\n- … and 1 more\n\n| x | y |\n| --- | ---: |\n| 1 | `1` |\n\n… and 2 more (`--format json` has all)\n\n```sh\nkubectl version\n```\n";
        assert_eq!(document.into_printable().as_str(), expected);
    }
}
