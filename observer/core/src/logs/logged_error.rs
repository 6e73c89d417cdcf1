//! Errors in log lines: their text, and their kind.

use super::audit::MAX_TEXT;
use super::text::cut;
use crate::redacted::Redacted;

/// An error as a line states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedError {
    /// The meaning of the text.
    pub kind: LoggedErrorKind,
    /// The error's text, cut at 1 KiB. It may hold a URL with a secret.
    pub text: Redacted<String>,
}

/// The errors that decide what a reflector does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedErrorKind {
    /// The resource version is too old (410 Gone), or etcd has compacted it.
    Expired {
        /// The version that the client asked for, if the text has it.
        requested: Option<u64>,
        /// The oldest version that was left, if the text has it.
        oldest: Option<u64>,
    },
    /// The resource version is one that the server has not reached (kubernetes/apiserver `pkg/storage/errors.go`, v0.19.0).
    TooLarge {
        /// The version that the client asked for.
        requested: Option<u64>,
        /// The version of the server.
        current: Option<u64>,
    },
    /// The server refused the connection.
    ConnectionRefused,
    /// The server answered 429.
    TooManyRequests,
    /// The watch lasted less than a second and delivered nothing (kubernetes/client-go `tools/cache/reflector.go`, v0.36.0).
    VeryShortWatch,
    /// Any other error.
    Other,
}

impl LoggedError {
    pub(super) fn of(text: &str) -> Self {
        Self { kind: LoggedErrorKind::of(text), text: Redacted(cut(text, MAX_TEXT)) }
    }
}

impl LoggedErrorKind {
    /// Longest part of an error's text that is searched.
    const SEARCHED: usize = 64 << 10;

    /// The kind of an error with this text. The texts are those of kubernetes/apiserver `pkg/storage/errors.go`,
    /// `pkg/storage/cacher/watch_cache.go` and `pkg/storage/etcd3/errors.go`, 1.16.0 to v0.36.0.
    fn of(text: &str) -> Self {
        const EXPIRED: [&str; 4] = [
            "required revision has been compacted",
            "resourceVersion for the provided",
            "resource version is too old",
            "continue parameter is too old",
        ];
        let text = text.get(..text.floor_char_boundary(Self::SEARCHED)).unwrap_or_default();
        if text.contains("very short watch: ") {
            return Self::VeryShortWatch;
        }
        if let Some(rest) = after(text, &["Too large resource version: "]) {
            let (requested, rest) = leading_number(rest);
            let current = rest.strip_prefix(", current: ").and_then(|rest| leading_number(rest).0);
            return Self::TooLarge { requested, current };
        }
        if let Some(rest) = after(text, &["too old resource version: "]) {
            let (requested, rest) = leading_number(rest);
            let oldest = rest.strip_prefix(" (").and_then(|rest| leading_number(rest).0);
            return Self::Expired { requested, oldest };
        }
        if EXPIRED.iter().any(|words| text.contains(words)) {
            return Self::Expired { requested: None, oldest: None };
        }
        if text.contains("connection refused") {
            return Self::ConnectionRefused;
        }
        if ["too many requests", "Too many requests", "Too Many Requests"].iter().any(|words| text.contains(words)) {
            return Self::TooManyRequests;
        }
        Self::Other
    }
}

/// The text after the first of these words.
fn after<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    words.iter().find_map(|words| text.split_once(words)).map(|(_, rest)| rest)
}

fn leading_number(text: &str) -> (Option<u64>, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (digits.parse().ok(), rest)
}
