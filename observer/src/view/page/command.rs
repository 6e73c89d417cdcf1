//! The command of `watchtap exec`: its state, and where its output goes.

use super::line::Line;
use super::sheet::Sheet;
use super::state::Page;
use crate::view::colour::Tone;

/// The command that runs behind watchtap.
#[derive(Clone, Debug)]
pub(super) struct Command {
    /// The command and its arguments.
    words: String,
    /// The file with its stdout and stderr.
    output: String,
    /// `None` while it runs.
    end: Option<CommandEnd>,
}

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandEnd {
    /// The exit code of `watchtap exec` for this end, unless a budget is exceeded.
    pub exit_code: u8,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
}

impl Page {
    /// The same page, with a line on the command that runs. `words` contains no credentials, and `output` is the file with its
    /// stdout and stderr.
    #[must_use]
    pub fn with_command(mut self, words: String, output: String) -> Self {
        self.command = Some(Command { words, output, end: None });
        self
    }

    /// Shows that the command has ended, also on a frozen page.
    pub fn command_ended(&mut self, end: CommandEnd) {
        if let Some(command) = &mut self.command {
            command.end = Some(end);
        }
    }
}

impl Command {
    /// The line below the title.
    pub(super) fn line(&self, cells: usize) -> Line {
        let leave = self.end.map(|_| (Tone::Plain, "q quits with a report".to_owned()));
        let output = (Tone::Plain, format!("output: {}", self.output));
        let words = (Tone::Quiet, self.words.clone());
        let phrases: Vec<_> = [self.state()].into_iter().chain([output]).chain(leave).chain([words]).collect();
        Line::of_phrases(&phrases, cells)
    }

    /// Writes the command in full, since its line may have no room for it.
    pub(super) fn describe(&self, sheet: &mut Sheet<'_>) {
        let (tone, state) = self.state();
        sheet.section("COMMAND");
        sheet.print(Tone::Plain, &self.words);
        sheet.print(tone, &state);
        sheet.print(Tone::Plain, &format!("its stdout and stderr go to {}", self.output));
    }

    fn state(&self) -> (Tone, String) {
        match self.end {
            None => (Tone::Plain, "command running".to_owned()),
            Some(CommandEnd { exit_code, signal }) => {
                let signal = signal.map_or_else(String::new, |signal| format!(" by signal {signal},"));
                let tone = if exit_code == 0 { Tone::Good } else { Tone::Bad };
                (tone, format!("command ended{signal} with exit code {exit_code}"))
            }
        }
    }
}
