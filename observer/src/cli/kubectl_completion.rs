//! Completions for `kubectl watchtap`, when kubectl runs this program by the name `kubectl_complete-watchtap`.
//!
//! kubectl passes the arguments after `watchtap`, the last of which is incomplete. It reads one candidate per line, each with a
//! description after a tab, and a directive on the last line (kubernetes/kubectl `pkg/cmd/plugin/plugin_completion.go`). So none of
//! its shells needs a script from here.

use std::process::ExitCode;

use clap::{Arg, Command};

use super::output::printed;
use crate::printable::{Printable, stdout};

/// The shell completes the names of files (spf13/cobra `completions.go`, `ShellCompDirectiveDefault`).
const FILES: u8 = 0;

/// Only the candidates (`ShellCompDirectiveNoFileComp`).
const NO_FILES: u8 = 4;

/// The words that the incomplete one can become.
#[derive(Debug, Default, PartialEq, Eq)]
struct Completions {
    /// Words, each with a description or an empty text.
    candidates: Vec<(String, String)>,
    /// Whether names of files are possible, too.
    files: bool,
}

/// Prints the candidates for the last argument.
pub(super) fn complete(command: &Command, arguments: &[String]) -> ExitCode {
    let completions = completions(command, arguments);
    let mut out = Printable::new();
    for (word, description) in &completions.candidates {
        out.push(word);
        if !description.is_empty() {
            out.append(&Printable::words("\t"));
            out.push(description);
        }
        out.end_line();
    }
    out.push_line(format_args!(":{}", if completions.files { FILES } else { NO_FILES }));
    printed(stdout().print(&out))
}

fn completions(command: &Command, arguments: &[String]) -> Completions {
    let (incomplete, before) = arguments.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    // After `--`, the arguments are those of another program.
    if before.iter().any(|word| word == "--") {
        return Completions { files: true, ..Completions::default() };
    }
    let (subcommand, given) = subcommand(command, before);
    if let Some(flag) = given.last().and_then(|word| flag(subcommand, word)).filter(|flag| flag.get_action().takes_values()) {
        return values(flag, incomplete, "");
    }
    if let Some((name, value)) = incomplete.split_once('=').filter(|(name, _)| name.starts_with("--")) {
        return flag(subcommand, name).map_or_else(Completions::default, |flag| values(flag, value, &format!("{name}=")));
    }
    if incomplete.starts_with('-') {
        return flags(subcommand, incomplete);
    }
    let mut found = names(subcommand, incomplete);
    if let Some(position) = subcommand.get_positionals().next() {
        let of_position = values(position, incomplete, "");
        found.candidates.extend(of_position.candidates);
        found.files = of_position.files;
    }
    found
}

/// The subcommand that these words name, and its own words.
fn subcommand<'c, 'w>(command: &'c Command, words: &'w [String]) -> (&'c Command, &'w [String]) {
    match words.split_first() {
        Some((first, rest)) => command.find_subcommand(first).map_or((command, words), |found| subcommand(found, rest)),
        None => (command, words),
    }
}

/// The flag that a word is, without a value in the same word.
fn flag<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let long = word.strip_prefix("--");
    let short = word.strip_prefix('-').filter(|rest| rest.chars().count() == 1).and_then(|rest| rest.chars().next());
    command.get_opts().find(|flag| {
        (long.is_some() && flag.get_long() == long) || (long.is_none() && short.is_some() && flag.get_short() == short)
    })
}

fn flags(command: &Command, incomplete: &str) -> Completions {
    let visible = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let named = visible.filter_map(|argument| Some((format!("--{}", argument.get_long()?), description(argument.get_help()))));
    Completions { candidates: named.filter(|(name, _)| name.starts_with(incomplete)).collect(), files: false }
}

fn names(command: &Command, incomplete: &str) -> Completions {
    let visible = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    let named = visible.map(|subcommand| (subcommand.get_name().to_owned(), description(subcommand.get_about())));
    Completions { candidates: named.filter(|(name, _)| name.starts_with(incomplete)).collect(), files: false }
}

/// The values of a flag or position. Without a list of them, they may be files.
fn values(argument: &Arg, incomplete: &str, prefix: &str) -> Completions {
    let possible = argument.get_possible_values();
    let visible = possible.iter().filter(|value| !value.is_hide_set() && value.get_name().starts_with(incomplete));
    let candidates = visible.map(|value| (format!("{prefix}{}", value.get_name()), description(value.get_help()))).collect();
    Completions { candidates, files: possible.is_empty() }
}

/// The first line of a text; empty if there is none.
fn description(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(|text| text.to_string().lines().next().unwrap_or_default().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command_line;

    /// Arguments, the words that complete the last one, and whether files may do so, too.
    const CASES: &[(&[&str], &[&str], bool)] = &[
        (&["sta"], &["status"], false),
        (&["status", "--na"], &["--namespace"], false),
        (&["status", "--format", ""], &["text", "json"], false),
        (&["status", "--format=j"], &["--format=json"], false),
        (&["status", "-n", ""], &[], true),
        (&["status", "-A", "--for"], &["--format"], false),
        (&["completions", "f"], &["fish"], false),
        (&["exec", "--", "ku"], &[], true),
        (&["attach", ""], &[], true),
        (&["nonsense", "x"], &[], false),
        (&["--ver"], &["--version"], false),
    ];

    #[test]
    fn words_are_completed_at_their_place() {
        for (arguments, expected, files) in CASES {
            let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
            let found = completions(&built(), &arguments);
            let words: Vec<&str> = found.candidates.iter().map(|(word, _)| word.as_str()).collect();
            assert_eq!((words.as_slice(), found.files), (*expected, *files), "{arguments:?}");
        }
    }

    #[test]
    fn without_a_word_all_visible_subcommands_are_candidates() {
        let found = completions(&built(), &[]);
        assert!(found.candidates.iter().any(|(name, description)| name == "status" && description.starts_with("Shows which pods")));
        assert!(!found.candidates.iter().any(|(name, _)| name == "credential"), "{found:?}");
    }

    fn built() -> Command {
        let mut command = command_line();
        command.build();
        command
    }
}
