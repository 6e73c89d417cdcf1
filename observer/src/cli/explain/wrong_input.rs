//! Errors about the input of `watchtap explain`: what is wrong and where, what may be meant, and what is accepted.

use anyhow::{Error, anyhow};

use crate::cli::nearest::hint;

/// The forms of the input.
const ACCEPTED: &str = "\
requests: `GET /api/v1/pods?limit=500`, `/api/v1/pods`, a URL, `kubectl get --raw PATH`, `LIST pods`, `WATCH deployments.apps -n NAMESPACE`
names in reports: rules, proofs, causes of relists, findings and their IDs
`watchtap explain --help` has examples";
/// Longest word that an error repeats, in characters. Names are shorter, tokens are longer.
const MAX_SHOWN: usize = 60;

/// An error with what may be meant, and the accepted forms.
pub(super) fn wrong_input(what: &str, meant: &[String]) -> Error {
    anyhow!("{what}{}\n{ACCEPTED}", hint(meant))
}

/// A word of the input in quotes, without what may be a credential: a query, a value, a user, or a token.
pub(super) fn quoted(word: &str) -> String {
    let shown = word.split(['?', '#', '=']).next().unwrap_or_default();
    if word.contains('@') || shown.chars().count() > MAX_SHOWN { "the argument".to_owned() } else { format!("`{shown}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_may_be_a_credential_is_repeated() {
        for (word, expected) in [
            ("FETCH", "`FETCH`"),
            ("/api?token=c4n4ry", "`/api`"),
            ("--token=c4n4ry", "`--token`"),
            ("https//user:c4n4ry@host/x", "the argument"),
            ("x?token=c4@n4ry", "the argument"),
            (&"c4n4ry".repeat(20), "the argument"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
