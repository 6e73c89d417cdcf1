//! The name under which this program was started, and the words of usage that follow from it.
//!
//! `kubectl` finds plug-ins by the names of programs: `kubectl watchtap` runs `kubectl-watchtap`, and completes its arguments with
//! `kubectl_complete-watchtap` (kubernetes/kubectl `pkg/cmd/plugin`). All are this program.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

/// How the user calls watchtap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Invocation {
    /// By its own name, or by a name that means nothing here.
    Program,
    /// `kubectl watchtap`.
    Plugin,
    /// By kubectl, for completions.
    Completion,
}

/// The words before a subcommand, of the program and of the plug-in.
const PROGRAM: &str = "watchtap";
const PLUGIN: &str = "kubectl watchtap";

static CURRENT: OnceLock<Invocation> = OnceLock::new();

impl Invocation {
    /// By the first argument of the process.
    pub(crate) fn by(first_argument: Option<&OsStr>) -> Self {
        match first_argument.and_then(|path| Path::new(path).file_stem()?.to_str()) {
            Some("kubectl-watchtap") => Self::Plugin,
            Some("kubectl_complete-watchtap") => Self::Completion,
            Some(_) | None => Self::Program,
        }
    }

    /// That of this process; [`Self::Program`] until it is known.
    pub(crate) fn current() -> Self {
        CURRENT.get().copied().unwrap_or(Self::Program)
    }

    /// Sets [`Self::current`], once for the process.
    pub(crate) fn begin(self) {
        CURRENT.get_or_init(|| self);
    }

    /// The words that the user types before a subcommand.
    pub(crate) const fn command(self) -> &'static str {
        match self {
            Self::Program => PROGRAM,
            Self::Plugin | Self::Completion => PLUGIN,
        }
    }

    /// The text with commands as the user types them. A command is the name of watchtap with a subcommand, such as `watchtap attach`.
    pub(crate) fn in_words(self, text: &str) -> Cow<'_, str> {
        if self == Self::Program {
            return Cow::Borrowed(text);
        }
        let mut written = String::new();
        let mut rest = text;
        while let Some(place) = rest.find(PROGRAM) {
            let (before, from) = rest.split_at(place);
            let (name, after) = from.split_at(PROGRAM.len());
            written.push_str(before);
            written.push_str(if begins_a_command(&written, after) { PLUGIN } else { name });
            rest = after;
        }
        written.push_str(rest);
        Cow::Owned(written)
    }
}

/// Whether a subcommand follows, and neither a path nor `kubectl` precedes.
fn begins_a_command(before: &str, after: &str) -> bool {
    let Some(words) = after.strip_prefix(' ') else { return false };
    let end = words.find(|character: char| !character.is_ascii_lowercase()).unwrap_or(words.len());
    let is_word_before = before.ends_with(|character: char| character.is_alphanumeric() || "/-_.".contains(character));
    SUBCOMMANDS.contains(&&words[..end]) && !is_word_before && !before.ends_with("kubectl ")
}

/// All subcommands. A test compares them with the command line.
pub(crate) const SUBCOMMANDS: &[&str] = &[
    "attach",
    "completions",
    "credential",
    "demo",
    "exec",
    "explain",
    "inject",
    "probe",
    "read",
    "run",
    "status",
    "uninject",
    "verify",
    "webhook",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_the_program_decides() {
        for (path, expected) in [
            (Some("/usr/bin/watchtap"), Invocation::Program),
            (Some("kubectl-watchtap"), Invocation::Plugin),
            (Some("/opt/krew/bin/kubectl-watchtap"), Invocation::Plugin),
            (Some("C:/plugins/kubectl-watchtap.exe"), Invocation::Plugin),
            (Some("/a/kubectl_complete-watchtap"), Invocation::Completion),
            (Some("kubectl-watchtap2"), Invocation::Program),
            (Some(""), Invocation::Program),
            (None, Invocation::Program),
        ] {
            assert_eq!(Invocation::by(path.map(OsStr::new)), expected, "{path:?}");
        }
    }

    #[test]
    fn only_commands_are_in_words_of_the_plugin() {
        for (text, expected) in [
            ("`watchtap attach --list` lists runs", "`kubectl watchtap attach --list` lists runs"),
            ("a | watchtap inject - && watchtap run", "a | kubectl watchtap inject - && kubectl watchtap run"),
            ("kubectl watchtap run", "kubectl watchtap run"),
            ("kubectl exec -c watchtap -- /watchtap attach", "kubectl exec -c watchtap -- /watchtap attach"),
            ("watchtap runs on Linux only", "watchtap runs on Linux only"),
            ("container watchtap", "container watchtap"),
            ("image/watchtap run", "image/watchtap run"),
            ("watchtap: watchtap", "watchtap: watchtap"),
        ] {
            assert_eq!(Invocation::Plugin.in_words(text), expected);
            assert_eq!(Invocation::Program.in_words(text), text);
        }
    }
}
