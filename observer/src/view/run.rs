//! A run in a form that may be shown.

use observer_core::observer::Excess;
use serde::Serialize;

use super::log::RunLog;

/// The facts about a run, apart from its observations.
#[derive(Clone, Debug)]
pub struct Run {
    /// The subcommand that makes the report, such as `exec`.
    pub subcommand: &'static str,
    /// The client's command and its arguments, made safe by [`Run::shown`]; empty if we started none.
    pub command: Vec<String>,
    /// The exit code of the client's command; `None` if we started none.
    pub exit_code: Option<i32>,
    /// The lines to print if no client connected.
    pub silence: Vec<String>,
    /// Whether it kept its budget; `None` without one.
    pub budget: Option<BudgetKept>,
    /// The logs of which the report is made; `None` for a run or its capture.
    pub log: Option<RunLog>,
    /// Facts about this run, one sentence each, such as an assumption, or that observation stopped.
    pub notes: Vec<String>,
}

/// The result of a budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BudgetKept {
    /// The exceeded limits; empty if the budget was kept.
    pub exceeded: Vec<Excess>,
    /// Whether parts of the run were not seen, so that the actual amounts may be higher.
    pub at_least: bool,
}

/// Words before a credential, in lower case: flags of kubectl and similar programs, and the schemes of an `Authorization` field.
const BEFORE_CREDENTIALS: [&str; 4] = ["--token", "--password", "bearer", "basic"];
/// Characters that a shell removes from a word, or from the end of a line that continues in the next.
const QUOTING: [char; 3] = ['"', '\'', '\\'];

impl Run {
    /// The words of a command line, without control characters and recognised credentials. Credentials are recognised after flags,
    /// after `Bearer` and `Basic`, and in URLs.
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

/// Removes the value of each credential flag from a word, which may be a script. The value may follow after several spaces or on
/// the next line, and contain spaces within quotes.
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

/// Whether a credential follows: `--token`, `Bearer`, `Authorization:Bearer`, `HEADER="Bearer`.
fn announces_credential(word: &str) -> bool {
    let word = word.trim_matches(QUOTING).to_ascii_lowercase();
    BEFORE_CREDENTIALS.iter().any(|announcement| {
        let before = word.strip_suffix(announcement);
        before.is_some_and(|before| !before.ends_with(|last: char| last.is_alphanumeric()))
    })
}

/// Removes name and password from a URL.
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
