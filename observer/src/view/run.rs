//! What was run, in a form that may be shown.

use observer_core::observer::Excess;
use serde::Serialize;

/// What was run, beside what was observed.
#[derive(Clone, Debug)]
pub struct Run {
    /// Which of our commands makes the report, such as `exec`.
    pub subcommand: &'static str,
    /// The client's command and its arguments, made safe by [`Run::shown`]; empty when we started none.
    pub command: Vec<String>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// What to say when nothing came through.
    pub silence: Vec<String>,
    /// Whether it kept its budget, where it had one.
    pub budget: Option<BudgetKept>,
    /// Things to know about this run, each a sentence (an assumption, observing that stopped).
    pub notes: Vec<String>,
}

/// What came of a budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BudgetKept {
    /// The limits that were exceeded; none where it was kept.
    pub exceeded: Vec<Excess>,
    /// Some of what the run cost is not known: it was at least so much.
    pub at_least: bool,
}

/// Words behind which a credential stands, in small letters: flags of kubectl and its kin, and the schemes of an `Authorization`, for curl and
/// its kin.
const BEFORE_CREDENTIALS: [&str; 4] = ["--token", "--password", "bearer", "basic"];
/// What a shell takes away from a word, or from the end of a line that goes on in the next.
const QUOTING: [char; 3] = ['"', '\'', '\\'];

impl Run {
    /// The words of a command line without the credentials that are given by flag, and without control characters. What a script in
    /// one word says in other ways is not recognised.
    pub fn shown<'w>(words: impl IntoIterator<Item = std::borrow::Cow<'w, str>>) -> Vec<String> {
        let mut value_is_secret = false;
        let mut shown = Vec::new();
        for word in words {
            let printable: String = word.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
            shown.push(if value_is_secret { "REDACTED".to_owned() } else { redacted(&printable) });
            value_is_secret = announces_credential(&printable);
        }
        shown
    }
}

/// A word, or a script in one word, with the value of each credential flag taken out, which may stand behind several spaces or in the next
/// line, and have spaces between quotes.
fn redacted(text: &str) -> String {
    let mut value_is_secret = false;
    let mut until_quote = None;
    let words = text.split(' ').map(|word| {
        if let Some(quote) = until_quote {
            until_quote = (!word.ends_with(quote)).then_some(quote);
            return "REDACTED".to_owned();
        }
        let secret = match word.split_once('=').filter(|(flag, value)| announces_credential(flag) && !value.is_empty()) {
            Some((flag, value)) => Some((format!("{flag}="), value)),
            None => value_is_secret.then_some((String::new(), word)),
        };
        if let Some((before, value)) = secret {
            let begins_later = value.trim_matches(QUOTING).is_empty();
            value_is_secret = begins_later || value.ends_with('\\');
            until_quote =
                value.chars().next().filter(|first| matches!(first, '"' | '\'') && !begins_later && !value.ends_with(*first));
            before + if begins_later { value } else { "REDACTED" }
        } else {
            value_is_secret = announces_credential(word);
            without_user(word)
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether what follows is a credential: `--token`, `Bearer`, `Authorization:Bearer`, `HEADER="Bearer`.
fn announces_credential(word: &str) -> bool {
    let word = word.trim_matches(QUOTING).to_ascii_lowercase();
    BEFORE_CREDENTIALS.iter().any(|announcement| {
        let before = word.strip_suffix(announcement);
        before.is_some_and(|before| !before.ends_with(|last: char| last.is_alphanumeric()))
    })
}

/// A URL without the name and password in it.
fn without_user(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((user, _host)) => format!("{scheme}://REDACTED{}", rest.get(user.len()..).unwrap_or_default()),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_on_the_command_line_are_not_shown() {
        for (words, expected) in [
            (vec!["kubectl", "--token=abc", "get", "pods"], "kubectl --token=REDACTED get pods"),
            (vec!["kubectl", "--token", "abc", "get"], "kubectl --token REDACTED get"),
            (
                vec!["sh", "-c", "kubectl --password abc get; kubectl --token=x get"],
                "sh -c kubectl --password REDACTED get; kubectl --token=REDACTED get",
            ),
            (vec!["curl", "-H", "Authorization: Bearer abc", "x"], "curl -H Authorization: Bearer REDACTED x"),
            (vec!["curl", "-H", "authorization: bearer  abc", "x"], "curl -H authorization: bearer  REDACTED x"),
            (vec!["sh", "-c", "kubectl --token \\\n  abc get"], "sh -c kubectl --token \\   REDACTED get"),
            (vec!["sh", "-c", "kubectl --token=\\\nab\\\nc get"], "sh -c kubectl --token=\\ REDACTED REDACTED get"),
            (vec!["sh", "-c", "kubectl '--token' ' abc' '--token=abc'"], "sh -c kubectl '--token' ' REDACTED '--token=REDACTED"),
            (vec!["curl", "-H", "Authorization:Bearer abc", "x"], "curl -H Authorization:Bearer REDACTED x"),
            (vec!["curl", "-H", "authorization: basic", "abc"], "curl -H authorization: basic REDACTED"),
            (vec!["sh", "-c", "AUTH=\"Bearer abc\" x"], "sh -c AUTH=\"Bearer REDACTED x"),
            (vec!["curl", "-d", "{\"Authorization\":\"Bearer abc\"}"], "curl -d {\"Authorization\":\"Bearer REDACTED"),
            (
                vec!["sh", "-c", "x --password='a b c' y; x --password \"d e\" z"],
                "sh -c x --password=REDACTED REDACTED REDACTED y; x --password REDACTED REDACTED z",
            ),
            (vec!["echo", "forbearer", "x"], "echo forbearer x"),
            (vec!["curl", "https://u:p@x/a?b=c@d", "https://x/a@b"], "curl https://REDACTED@x/a?b=c@d https://x/a@b"),
            (vec!["echo", "a\x1b[31m\nb"], "echo a [31m b"),
            (vec!["kubectl", "--token-file=abc"], "kubectl --token-file=abc"),
        ] {
            assert_eq!(Run::shown(words.into_iter().map(Into::into)).join(" "), expected);
        }
    }
}
