//! `watchtap completions`.

use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use super::output::printed;
use crate::printable::hand_over;

/// Prints a completion script for a shell.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  source <(watchtap completions bash)
  watchtap completions zsh > \"${fpath[1]}/_watchtap\"
  watchtap completions fish > ~/.config/fish/completions/watchtap.fish")]
pub(super) struct Completions {
    /// The shell that will read the script.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) -> ExitCode {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::command_line::command_line(), "watchtap", &mut script);
        printed(hand_over(&script))
    }
}
