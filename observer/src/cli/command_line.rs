//! The command line.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use super::attach::Attach;
use super::completions::Completions;
use super::credential::Credential;
use super::demo::Demo;
use super::exec::{Exec, OWN_FAILURE};
use super::explain::Explain;
use super::injection::{Inject, Uninject};
#[cfg(all(target_os = "linux", feature = "ebpf"))]
use super::probe::Probe;
use super::read::Read;
use super::run::Run;
use super::status::Status;
use super::verify::Verify;
use super::webhook::Webhook;
use super::{demo, kubectl_completion, logging, panic_message, plugin_words};
use crate::invocation::Invocation;
use crate::printable::{Printable, Styles, stderr, stdout};
use crate::view::Colour;

/// Shows which layer of the Kubernetes API server answers each list and watch.
///
/// watchtap sits between a Kubernetes client and the API server and passes every byte on unchanged. For each list, get and watch it
/// reports which layer answered (watch cache, cache snapshot, etcd), and by which rule.
#[derive(Debug, Parser)]
#[command(name = "watchtap", version, max_term_width = 110, arg_required_else_help = true)]
#[command(after_help = format!("EXAMPLES:{}
  watchtap run
  watchtap attach
  watchtap exec -- kubectl get pods -A
  watchtap exec --format json --report run.json -- ./my-controller
  watchtap exec --capture run.cap -- ./my-controller && watchtap read run.cap
  watchtap explain 'GET /api/v1/pods?limit=500' --server-version 1.34.2
  watchtap explain list-unset-consistent
  watchtap verify
  watchtap inject --image registry.example/watchtap:0.1.0 deployment.yaml | kubectl apply -f -", demo::EXAMPLE))]
pub(super) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Run),
    Exec(Exec),
    #[cfg(all(target_os = "linux", feature = "ebpf"))]
    Probe(Probe),
    Attach(Attach),
    Demo(Demo),
    Explain(Explain),
    Read(Read),
    Verify(Verify),
    Status(Status),
    Inject(Inject),
    Uninject(Uninject),
    Webhook(Webhook),
    Completions(Completions),
    Credential(Credential),
}

/// Runs the command line as the only work of this process, and returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    logging::begin();
    panic_message::keep_to_the_place();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let invocation = Invocation::by(arguments.first().map(OsString::as_os_str));
    invocation.begin();
    if invocation == Invocation::Completion {
        return complete(&arguments);
    }
    let cli = match parse(invocation, &arguments) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &arguments),
    };
    match cli.command {
        Command::Run(run) => run.run(),
        Command::Exec(exec) => exec.run(),
        #[cfg(all(target_os = "linux", feature = "ebpf"))]
        Command::Probe(probe) => probe.run(),
        Command::Attach(attach) => attach.run(),
        Command::Demo(demo) => demo.run(),
        Command::Explain(explain) => explain.run(),
        Command::Read(read) => read.run(),
        Command::Verify(verify) => verify.run(),
        Command::Status(status) => status.run(),
        Command::Inject(inject) => inject.run(),
        Command::Uninject(uninject) => uninject.run(),
        Command::Webhook(webhook) => webhook.run(),
        Command::Completions(completions) => completions.run(),
        Command::Credential(credential) => credential.run(),
    }
}

fn parse(invocation: Invocation, arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = plugin_words::of(invocation, command_line());
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Prints completions for kubectl.
fn complete(arguments: &[OsString]) -> ExitCode {
    let mut command = command_line();
    command.build();
    let words: Vec<String> = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    kubectl_completion::complete(&command, &words)
}

/// The definition of the command line, for a test that visits all of it.
pub fn command_line() -> clap::Command {
    Cli::command()
}

/// Prints help or a usage error. `exec` keeps exit code 2 for the command that it runs, `verify` for inconclusive rows. Their own
/// usage errors exit with 125.
fn usage(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let has_another_two = arguments.get(1).is_some_and(|command| command == "exec" || command == "verify");
    // If stdout or stderr is closed, there is nowhere to report that.
    let _printed = print(error);
    match error.exit_code() {
        0 => ExitCode::SUCCESS,
        _usage if has_another_two => ExitCode::from(OWN_FAILURE),
        _usage => ExitCode::from(2),
    }
}

/// Help contains only our own words, so its styles stay. An error quotes the command line.
fn print(error: &clap::Error) -> std::io::Result<()> {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    let colour = if error.use_stderr() { Colour::for_stderr() } else { Colour::for_stdout() };
    let styles = if is_help && colour == Colour::On { Styles::Kept } else { Styles::Dropped };
    let text = Printable::of_command_line(&error.render(), styles);
    if error.use_stderr() { stderr().print(&text) } else { stdout().print(&text) }
}
