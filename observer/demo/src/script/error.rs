//! The error of a script, and its place.

/// The first invalid line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct ScriptError {
    /// The name of the script for the reader.
    pub file: String,
    /// The line number, from 1.
    pub line: usize,
    /// The problem, and the allowed values.
    pub what: String,
}
