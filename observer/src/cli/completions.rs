//! `watchtap completions`.

use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use super::output::printed;
use crate::invocation::Invocation;
use crate::printable::hand_over;

/// Prints a completion script for a shell.
///
/// The plug-in of kubectl needs none: kubectl asks a program named `kubectl_complete-watchtap`. That is a second name of the plug-in.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  source <(watchtap completions bash)
  watchtap completions zsh > \"${fpath[1]}/_watchtap\"
  watchtap completions fish > ~/.config/fish/completions/watchtap.fish

  For `kubectl watchtap`:
  ln -s \"$(command -v kubectl-watchtap)\" ~/.local/bin/kubectl_complete-watchtap")]
pub(super) struct Completions {
    /// The shell that will read the script.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) -> ExitCode {
        // Shells complete a word that is the name of a program.
        let program = match Invocation::current() {
            Invocation::Program => "watchtap",
            Invocation::Plugin | Invocation::Completion => "kubectl-watchtap",
        };
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::command_line::command_line(), program, &mut script);
        printed(hand_over(&script))
    }
}
