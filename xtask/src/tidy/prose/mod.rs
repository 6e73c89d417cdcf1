//! Rule: prose is plain. Sentences are short, their subject is not a clause, and they contain no word that docs/glossary.md
//! retires.
//!
//! The rule applies to Markdown, names of items, docstrings (including those for `--help`) and string literals. In other comments,
//! it applies only to retired words.

mod exceptions;
mod literals;
mod names;
mod passages;
mod retired;
mod rule;
mod sentences;
