//! `watchtap exec --page`: the live page while the command runs, and after it until the user quits.

use std::fs::{self, File};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use tokio::sync::Notify;

use super::output::{create, create_numbered};
use super::shown;
use crate::child::Streams;
use crate::pipeline::{Outputs, Snapshots};
use crate::printable::print_message;
use crate::signals::SignalStream;
use crate::terminal::{CommandEndSender, Left, OwnPage, RunningPage, is_for_a_page};
use crate::view::{CommandEnd, Page};

/// Whether there is a page, and the file for the output of the command.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct CommandPageFlags {
    /// Show the live page while the command runs, and after it until q. The page has the terminal: the command's stdin is empty, and
    /// its stdout and stderr go to a file. q or Ctrl-C interrupts the command if it still runs
    #[arg(long, help_heading = "Page")]
    page: bool,

    /// File for the command's stdout and stderr [default: watchtap-output-TIME.log in the current folder]
    #[arg(long, value_name = "FILE", requires = "page", help_heading = "Page")]
    output: Option<PathBuf>,
}

/// The parts of a page that are ready before the command runs.
pub(super) struct ReadyPage {
    snapshots: Snapshots,
    output: OutputFile,
}

/// The file for the output of the command. If no command was started, a file whose name watchtap chose is removed again.
struct OutputFile {
    path: PathBuf,
    file: File,
    is_removed: bool,
}

/// A page while the command runs.
pub(super) struct CommandPage {
    running: RunningPage,
    command_end: CommandEndSender,
    output: PathBuf,
}

/// A page after the end of its command.
pub(super) struct LastPage {
    page: CommandPage,
    signals: SignalStream,
    closing: Notify,
}

impl CommandPageFlags {
    /// Checks that there is a terminal for the page.
    pub(super) fn check(&self) -> Result<()> {
        ensure!(
            !self.page || is_for_a_page(),
            "--page needs a terminal: stdin and stdout must be one, and TERM must not be dumb. Elsewhere, leave out --page: watchtap \
             exec prints a report at the end, and --events FILE can be followed"
        );
        Ok(())
    }

    /// The file that the flags name.
    pub(super) fn file(&self) -> Option<(&'static str, &Path)> {
        self.output.as_deref().map(|file| ("--output", file))
    }

    /// Creates the file for the command's output, and connects the page to `outputs`; `None` without `--page`. `mute` lists the
    /// findings to suppress.
    pub(super) fn prepare(&self, outputs: &mut Outputs, mute: &[String]) -> Result<Option<ReadyPage>> {
        if !self.page {
            return Ok(None);
        }
        let (path, file) = if let Some(path) = &self.output {
            (path.clone(), create(path)?)
        } else {
            let stem = format!("watchtap-output-{}", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ"));
            create_numbered(&stem, "log").context("no file for the output of the command: name one with --output")?
        };
        let file = file.into_inner();
        ensure!(!file.is_terminal(), "--output names a terminal, which the page needs: name a file");
        let snapshots = outputs.snapshots(mute).subscribe();
        let output = OutputFile { path, file, is_removed: self.output.is_none() };
        Ok(Some(ReadyPage { snapshots, output }))
    }
}

impl ReadyPage {
    /// The standard streams of the command.
    pub(super) fn streams(&self) -> Result<Streams> {
        Ok(Streams::ToFile(self.output.file.try_clone().context("cannot open the output of the command once more")?))
    }

    /// Opens the page on the command with these words, which was started. If the terminal cannot show it, the command continues
    /// without it.
    pub(super) fn open(mut self, name: &str, guidance: Vec<String>, words: &[String]) -> Option<CommandPage> {
        self.output.is_removed = false;
        let output = self.output.path.clone();
        let page: Page = shown::page(name, guidance).with_command(words.join(" "), output.display().to_string());
        let (page, command_end) = OwnPage::of_command(page, self.snapshots);
        match RunningPage::start(page) {
            Ok(running) => Some(CommandPage { running, command_end, output }),
            Err(error) => {
                print_message(format!(
                    "the page cannot be shown ({error}); the command runs, and its output goes to {}",
                    output.display()
                ));
                None
            }
        }
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if self.is_removed
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::debug!("{} could not be removed: {error}", self.path.display());
        }
    }
}

/// Ready when the user quits the page while the command runs. `closing` closes the page, too: further output goes to the ordinary
/// screen.
pub(super) async fn quit(page: &mut Option<CommandPage>, closing: &Notify) {
    if let Some(CommandPage { running, output, .. }) = page {
        let left = tokio::select! {
            left = running.left() => Some(left),
            () = closing.notified() => None,
        };
        let output = output.display().to_string();
        *page = None;
        match left {
            Some(Left::Asked) => {
                print_message(format!("interrupted the command, as Ctrl-C does; waiting for its end. Its output is in {output}"));
                return;
            }
            Some(Left::Failed(why)) => print_message(format!(
                "the page stopped: {why}; the command continues, and Ctrl-C interrupts it. Its output is in {output}"
            )),
            None => print_message(format!("a signal asked the command to end; waiting for its end. Its output is in {output}")),
        }
    }
    std::future::pending::<()>().await;
}

impl CommandPage {
    /// Shows how the command ended.
    pub(super) fn after(self, end: CommandEnd, signals: SignalStream, closing: Notify) -> LastPage {
        self.command_end.send(end);
        LastPage { page: self, signals, closing }
    }
}

impl LastPage {
    /// Waits until the user quits the page, or a signal asks for that, and closes it.
    pub(super) async fn left(mut self) {
        let left = tokio::select! {
            left = self.page.running.left() => left,
            _signal = self.signals.next_end() => Left::Asked,
            () = self.closing.notified() => Left::Asked,
        };
        let CommandPage { running, output, .. } = self.page;
        drop(running);
        if let Left::Failed(why) = left {
            print_message(format!("the page stopped: {why}"));
        }
        print_message(format!("the output of the command is in {}", output.display()));
    }
}
