//! Rule: prose is plain. Sentences are short, whoever acts is their subject, and no word stands in them that docs/glossary.md retires.
//!
//! It reads Markdown, names of items, docstrings (`--help` is made of them) and, for retired words only, other comments.

mod exceptions;
mod literals;
mod names;
mod passages;
mod retired;
mod rule;
mod sentences;
