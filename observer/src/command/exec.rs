//! `watchtap exec`.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use clap::Args;

use super::coverage;
use super::output::{Format, say_error};
use super::profiles::Profiles;
use super::tap_set::TapSet;
use super::upstream_flags::UpstreamFlags;
use crate::child::{self, Child, SpawnError};
use crate::intake::{Intake, IntakeLimits};
use crate::kubeconfig::{Kubeconfig, Pairs};
use crate::observing::{Observing, Outcome};
use crate::tap::Clock;
use crate::tap::proxy::ProxyCounts;
use crate::view::{Colour, EventLines, Run, report_json, report_text};

/// Our own failure, as env(1) has it: the command was not run, or its report could not be written.
pub(super) const OWN_FAILURE: u8 = 125;

/// How long connections that outlive the command may go on, so that their ends are seen.
const GRACE: Duration = Duration::from_millis(500);

/// Runs one client behind a private proxy and reports which layer of the API server answered each of its requests.
///
/// The command finds in KUBECONFIG a private copy of your kubeconfig whose contexts lead through watchtap; every byte is passed on
/// unchanged. watchtap sends one request of its own to each API server that is used, GET /version, which is not in the report. The report
/// goes to stderr.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap exec -- kubectl get pods -A
  watchtap exec --format json --report run.json -- ./my-controller
  watchtap exec --events events.jsonl -- sh -c 'kubectl get pods; kubectl get events'

EXIT CODES:
  the command's own · 128+n ended by signal n · 125 watchtap failed · 126 the command cannot be run · 127 it does not exist")]
pub(super) struct Exec {
    /// Write the report to a file instead of stderr
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// How to write it
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Write what happens as JSON lines to a file, or to stdout for - (docs/events.md)
    #[arg(long, value_name = "FILE|-")]
    events: Option<PathBuf>,

    #[command(flatten)]
    upstream: UpstreamFlags,

    #[command(flatten)]
    profiles: Profiles,

    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Where `--events` go.
type Events = EventLines<Box<dyn Write + Send>>;

/// What the run leaves for its report.
struct Observed {
    code: u8,
    outcome: Outcome,
    silence: Vec<String>,
}

impl Exec {
    pub(super) fn run(&self) -> ExitCode {
        match self.execute() {
            Ok(code) => ExitCode::from(code),
            Err(error) => {
                say_error(&error);
                ExitCode::from(error.downcast_ref().map_or(OWN_FAILURE, SpawnError::exit_code))
            }
        }
    }

    fn execute(&self) -> Result<u8> {
        let kubeconfig = self.upstream.kubeconfig()?;
        let pairs = kubeconfig.pairs()?;
        // Files are opened before the command runs: a report that cannot be written is better known then.
        let report = self.report.as_deref().map(create).transpose()?;
        let events = self.events.as_deref().map(events_to).transpose()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("forwarding")
            .enable_all()
            .build()
            .context("cannot start the runtime")?;
        let observed = runtime.block_on(self.observe(&kubeconfig, pairs, events));
        // A name look-up that hangs would hold the runtime's end up.
        runtime.shutdown_background();
        let observed = observed?;
        self.report(report, &observed)?;
        Ok(observed.code)
    }

    async fn observe(&self, kubeconfig: &Kubeconfig, pairs: Pairs, events: Option<Events>) -> Result<Observed> {
        let clock = Clock::start();
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let mut taps = TapSet::bind(kubeconfig, pairs, &self.upstream, &intake, clock)?;
        coverage::announce(&taps);
        let upstreams = taps.upstreams(&self.profiles).await;
        let observing = Observing::start(receiver, clock.now(), upstreams, events).context("cannot start the observing thread")?;
        let silence = silence(&taps);
        taps.serve(&self.profiles, &intake, clock);
        drop(intake);
        let code = match taps.kubeconfig_variable() {
            Ok(variable) => self.run_command(&variable).await,
            Err(error) => Err(error),
        };
        // From here on a signal ends us at once, so what is private goes first.
        let stopped = taps.stop(GRACE).await;
        let (code, counts) = (code?, stopped?);
        let mut outcome = tokio::task::spawn_blocking(|| observing.finish()).await??;
        outcome.troubles.extend(troubles(&counts));
        Ok(Observed { code, outcome, silence })
    }

    async fn run_command(&self, kubeconfig: &OsStr) -> Result<u8> {
        let (command, arguments) = self.command.split_first().context("no command was given")?;
        let child = Child::spawn(command, arguments, &child::variables(kubeconfig, |name| std::env::var_os(name)))?;
        let status = child.wait_forwarding().await.context("cannot wait for the command")?;
        Ok(child::exit_code(status))
    }

    fn report(&self, file: Option<File>, observed: &Observed) -> Result<()> {
        let outcome = &observed.outcome;
        let run = Run {
            command: Run::shown(self.command.iter().map(|word| word.to_string_lossy())),
            exit_code: Some(i32::from(observed.code)),
            silence: observed.silence.clone(),
            notes: outcome.troubles.clone(),
        };
        let colour = match &file {
            Some(_) => Colour::Off,
            None => Colour::for_stream(&io::stderr(), std::env::var_os("NO_COLOR").as_deref()),
        };
        let text = match self.format {
            Format::Text => report_text(&run, &outcome.snapshot, colour),
            Format::Json => report_json(&run, &outcome.snapshot)?,
        };
        match file {
            Some(mut file) => file.write_all(text.as_bytes()).context("cannot write the report"),
            None => io::stderr().lock().write_all(text.as_bytes()).context("cannot write the report to stderr"),
        }
    }
}

/// What the proxy knows and no observation tells.
fn troubles(counts: &ProxyCounts) -> Vec<String> {
    let mut troubles = Vec::new();
    if counts.client_handshakes_failed > 0 {
        troubles.push(format!(
            "{} client connections ended in the TLS handshake with us: a client that does not trust the CA of its kubeconfig, or has \
             not the certificate in it, or does not speak TLS",
            counts.client_handshakes_failed
        ));
    }
    if counts.faults > 0 {
        troubles.push(format!("{} connections were reset for a fault of ours; please report it", counts.faults));
    }
    troubles
}

/// What it usually means when nothing came through.
fn silence(taps: &TapSet) -> Vec<String> {
    let mut lines = vec![
        "Nothing came through watchtap. Usually that means that the command".to_owned(),
        "  · was told another kubeconfig or server (--kubeconfig, --server) than the KUBECONFIG it got from us".to_owned(),
        "  · runs in a cluster and uses the address it finds there (KUBERNETES_SERVICE_HOST)".to_owned(),
        "  · made no request, or failed before it did".to_owned(),
    ];
    if !taps.left_out().is_empty() {
        lines.push("  · used a context that is not covered (--context): see above".to_owned());
    }
    lines
}

/// Opens a file for writing, readable for its owner only: names of objects can be sensitive.
fn create(path: &Path) -> Result<File> {
    let open = || {
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        // A file that was there keeps its mode otherwise; a device or a pipe has none that matters.
        if file.metadata()?.is_file() {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(file)
    };
    open().map_err(|error: io::Error| anyhow!("cannot write {}: {error}", path.display()))
}

/// The lines of `--events`: to a file, or to stdout for `-`.
fn events_to(path: &Path) -> Result<Events> {
    let out: Box<dyn Write + Send> =
        if path.as_os_str() == "-" { Box::new(BufWriter::new(io::stdout())) } else { Box::new(BufWriter::new(create(path)?)) };
    EventLines::begin(out).context("cannot write events")
}
