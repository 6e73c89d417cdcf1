//! `watchtap exec`.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use observer_core::series::TapWord;
use tokio::sync::Notify;

use super::available_memory;
use super::exec_demo::{DemoCluster, DemoFlags};
use super::exec_page::{self, CommandPageFlags, LastPage, ReadyPage};
use super::flags::{AttachFlags, BudgetFiles, BudgetFlags, MetricsFlags, Otherwise, ProfileSourceFlags, Report, UpstreamFlags};
use super::guidance;
use super::recording::{self, Beside, Recording};
use crate::attach::ServedRun;
use crate::child::{self, Asker, Child, SpawnError, Streams};
use crate::kubeconfig::Via;
use crate::memory_budget::MemoryBudget;
use crate::pipeline::Outcome;
use crate::printable::print_error;
use crate::session::{self, Bound, Session, TapSet};
use crate::signals::SignalStream;
use crate::view::{CommandEnd, Run};

/// Exit code of our own failures, as in env(1): the command was not run, or its report could not be written.
pub(super) const OWN_FAILURE: u8 = 125;

/// Exit code if the command succeeded but cost more than its budget.
const BUDGET_EXCEEDED: u8 = 124;

/// Exit code of a command that SIGTERM ended.
const TERMINATED: u8 = 128 + 15;

/// How long connections may outlive the command, so that their ends are observed.
const GRACE: Duration = Duration::from_millis(500);

/// Runs one client behind a private proxy and reports which layer of the API server answered each of its lists, gets and watches.
///
/// The command's KUBECONFIG is a private copy of yours whose contexts point to watchtap. Every byte is passed on unchanged. The
/// report goes to stderr.
///
/// To each API server in use, watchtap itself sends GET /version (again with your credentials if anonymous requests are refused) and
/// GET /metrics with your credentials. The report does not count them.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap exec -- kubectl get pods -A
  watchtap exec --format json --report run.json -- ./my-controller
  watchtap exec --events events.jsonl -- sh -c 'kubectl get pods; kubectl get events'

  # Write a budget once; in CI, fail if a run costs more:
  watchtap exec --write-budget budget.json -- ./my-controller
  watchtap exec --budget budget.json -- ./my-controller

  # Also write the report as a comment on a pull request:
  watchtap exec --budget budget.json --format markdown --report comment.md -- ./my-controller

  # Without a cluster:
  watchtap exec --demo torture --budget budget.json -- ./my-controller

  # Show the live page meanwhile; the output of the command goes to a file:
  watchtap exec --page -- ./my-controller

  # Record the run, and print its report again:
  watchtap exec --capture run.cap -- ./my-controller
  watchtap read run.cap

EXIT CODES:
  the command's own, or
  124    the command succeeded but exceeded its budget
  125    watchtap failed
  126    the command cannot be run
  127    the command does not exist
  128+n  signal n ended the command")]
pub(super) struct Exec {
    #[command(flatten)]
    recording: Recording,

    #[command(flatten)]
    budget: BudgetFlags,

    #[command(flatten)]
    upstream: UpstreamFlags,

    #[command(flatten)]
    profiles: ProfileSourceFlags,

    #[command(flatten)]
    page: CommandPageFlags,

    #[command(flatten)]
    metrics: MetricsFlags,

    #[command(flatten)]
    attach: AttachFlags,

    #[command(flatten)]
    demo: DemoFlags,

    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// How the command ended.
struct Ran {
    code: u8,
    /// A page that is still open.
    page: Option<LastPage>,
}

/// The result of a run, for its report.
struct Observed {
    code: u8,
    outcome: Outcome,
    silence: Vec<String>,
    report: Report,
    budget: BudgetFiles,
}

impl Exec {
    pub(super) fn run(&self) -> ExitCode {
        match self.execute() {
            Ok(code) => ExitCode::from(code),
            Err(error) => {
                print_error(&error);
                ExitCode::from(error.downcast_ref().map_or(OWN_FAILURE, SpawnError::exit_code))
            }
        }
    }

    fn execute(&self) -> Result<u8> {
        let runtime = session::runtime()?;
        let observed = runtime.block_on(self.observe());
        // A name lookup that hangs would delay the end of the runtime.
        runtime.shutdown_background();
        let Observed { code, mut outcome, silence, report, budget } = observed?;
        outcome.snapshot = outcome.snapshot.without_findings(report.mute());
        let budget = budget.judge(&outcome)?;
        let is_kept = budget.as_ref().is_none_or(|budget| budget.exceeded.is_empty());
        let run = Run {
            subcommand: "exec",
            command: self.words(),
            exit_code: Some(i32::from(code)),
            silence,
            budget,
            log: None,
            notes: outcome.troubles,
        };
        recording::write(report, &run, &outcome.snapshot)?;
        Ok(if code == 0 && !is_kept { BUDGET_EXCEEDED } else { code })
    }

    /// The command and its arguments, without credentials.
    fn words(&self) -> Vec<String> {
        Run::shown(self.command.iter().map(|word| word.to_string_lossy()))
    }

    async fn observe(&self) -> Result<Observed> {
        self.page.check()?;
        anyhow::ensure!(
            !self.recording.events_take_stdout(),
            "--events - would mix with the command's stdout; write events to a file (--events events.jsonl), or use `watchtap \
             run --events -` and start the command separately"
        );
        let demo = self.demo.start().await?;
        let kubeconfig = match &demo {
            Some(demo) => demo.kubeconfig()?,
            None => self.upstream.kubeconfig()?,
        };
        let pairs = kubeconfig.pairs()?;
        // Files are opened before the command runs, so that one that cannot be written fails early. They are opened before signals
        // are held back, so that a pipe without a reader can still be interrupted.
        let memory = available_memory::beside_a_command(&MemoryBudget::default());
        let beside = Beside { output: self.page.file(), ..self.budget.files() };
        let (report, mut outputs) = self.recording.open(TapWord::Proxy, Otherwise::Stderr, beside, &memory)?;
        let budget = self.budget.open()?;
        let page = self.page.prepare(&mut outputs, report.mute())?;
        let metrics = self.metrics.serve(|| outputs.series(report.mute()), TapWord::Proxy, &memory)?;
        // From here on there are private files and a socket, which must be removed before a signal ends us.
        let mut signals = SignalStream::open().context("cannot listen for signals")?;
        let attach = self.attach.bind(None, || outputs.snapshots(report.mute()), &memory)?;
        let bound = Bound::new(&kubeconfig, pairs, self.upstream.listener_options(), &memory)?;
        if let Some(metrics) = &metrics {
            metrics.note_started();
        }
        let reasons = reasons(bound.taps(), self.upstream.via());
        // It serves from before the first request to an API server, until this run is observed to its end.
        let _attach = attach.map(|ready| ready.serve(self.served(bound.taps(), &reasons))).transpose()?.flatten();
        let session = tokio::select! {
            session = bound.serve(self.profiles.source(), outputs) => session?,
            signal = signals.next_end() => return Err(SpawnError::Interrupted(signal).into()),
        };
        let ran = match session.taps().kubeconfig_variable() {
            Ok(variable) => self.run_command(&session, &variable, signals, demo.as_ref(), page, &reasons).await,
            Err(error) => Err(error),
        };
        // Without a page, a signal ends us at once from here on, so the private files are removed first.
        let outcome = session.end(GRACE).await;
        let Ran { code, page } = ran?;
        if let Some(page) = page {
            page.left().await;
        }
        let silence = silence(reasons);
        Ok(Observed { code, outcome: outcome?, silence, report, budget })
    }

    /// The run, for processes that are attached to it.
    fn served(&self, taps: &TapSet, reasons: &[String]) -> ServedRun {
        ServedRun {
            subcommand: "exec",
            command: self.words(),
            name: guidance::name(taps),
            guidance: guidance(reasons.to_vec()),
            api_servers: guidance::api_servers(taps),
            silence: silence(reasons.to_vec()),
            notes: Box::new(taps.notes()),
        }
    }

    async fn run_command(
        &self,
        session: &Session,
        kubeconfig: &OsStr,
        signals: SignalStream,
        demo: Option<&DemoCluster>,
        page: Option<ReadyPage>,
        reasons: &[String],
    ) -> Result<Ran> {
        let (command, arguments) = self.command.split_first().context("no command was given")?;
        let variables = child::variables(kubeconfig, self.upstream.via(), |name| std::env::var_os(name));
        let streams = page.as_ref().map_or(Ok(Streams::Inherited), ReadyPage::streams)?;
        let child = session.start(|| Child::spawn(command, arguments, &variables, streams, signals))?;
        let mut page = page.and_then(|page| page.open(&guidance::name(session.taps()), guidance(reasons.to_vec()), &self.words()));
        let closing = Notify::new();
        let asked_to_end = |asker| {
            session.note_shutdown();
            if asker == Asker::Signal {
                closing.notify_one();
            }
        };
        let mut played = None;
        let over = async {
            match demo {
                Some(demo) => played = Some(demo.play(session).await),
                None => std::future::pending().await,
            }
        };
        let ended = child.wait_or_end(asked_to_end, over, exec_page::quit(&mut page, &closing)).await;
        let ended = ended.context("cannot wait for the command")?;
        played.transpose().context("the demo's clients failed")?;
        let code = child::exit_code(ended.status);
        // The end by the signal that it was asked with is no failure.
        let code = if ended.was_terminated && code == TERMINATED { 0 } else { code };
        let end = CommandEnd { exit_code: code, signal: ended.status.signal() };
        Ok(Ran { code, page: page.map(|page| page.after(end, ended.signals, closing)) })
    }
}

/// How clients reach watchtap, for the page.
fn guidance(reasons: Vec<String>) -> Vec<String> {
    titled("The KUBECONFIG of the command points to watchtap. If no client connects, usually the command", reasons)
}

/// The reasons for a report without clients.
fn silence(reasons: Vec<String>) -> Vec<String> {
    titled("No client connected through watchtap. Usually the command", reasons)
}

/// Reasons below their title.
fn titled(title: &str, reasons: Vec<String>) -> Vec<String> {
    [title.to_owned()].into_iter().chain(reasons).collect()
}

/// The usual reasons why no client connected through watchtap.
fn reasons(taps: &TapSet, via: Via) -> Vec<String> {
    let mut lines = vec![
        "  · has a flag that overrides KUBECONFIG (--kubeconfig, --server), which watchtap set".to_owned(),
        "  · runs in a cluster and uses the address there (KUBERNETES_SERVICE_HOST)".to_owned(),
        "  · sent no request, or failed before that".to_owned(),
    ];
    if via == Via::ProxyUrl {
        lines.push("  · uses kube-rs, which bypasses a proxy-url whose address is in NO_PROXY: ours is 127.0.0.1".to_owned());
    }
    if !taps.left_out().is_empty() {
        lines.push("  · used a context that watchtap does not cover (--context): see above".to_owned());
    }
    lines
}
