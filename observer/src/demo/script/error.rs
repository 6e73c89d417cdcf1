//! What is wrong with a script, and where.

/// The first line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct ScriptError {
    /// As the reader knows the script.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, and what is allowed there.
    pub what: String,
}
