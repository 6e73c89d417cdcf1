//! Rule: prose is plain. Sentences are short, whoever acts is their subject, and no word stands in them that docs/glossary.md retires.
//!
//! It reads Markdown, docstrings (`--help` is made of them) and, for retired words only, other comments.

mod exceptions;
mod literals;
mod passages;
mod retired;
mod rule;
mod sentences;
