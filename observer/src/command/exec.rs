//! `watchtap exec`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use observer_core::routing::ServerProfile;

use super::capture_flags::CaptureFlags;
use super::output::{Format, create, events_to, say, say_error};
use super::profile_flags::ProfileFlags;
use super::upstream;
use crate::child::{self, Child, SpawnError};
use crate::intake::{Intake, IntakeLimits};
use crate::kubeconfig::{ClientCertificatePair, ClientEndpoint, Environment, Kubeconfig, RunFolder, Selected};
use crate::observing::{Observing, Outcome, Outputs};
use crate::tap::Clock;
use crate::tap::proxy::{ClientIdentity, PrivateAuthority, Proxy, ProxyCounts};
use crate::view::{Colour, Run, report_json, report_text};

/// Our own failure, as env(1) has it: the command was not run, or its report could not be written.
pub(super) const OWN_FAILURE: u8 = 125;

/// How long connections that outlive the command may go on, so that their ends are seen.
const GRACE: Duration = Duration::from_millis(500);

/// Runs one client behind a private proxy and reports which layer of the API server answered each of its requests.
///
/// The command finds in KUBECONFIG a private copy of your kubeconfig whose current context leads through watchtap; every byte is passed on
/// unchanged. watchtap sends one request of its own, GET /version, which is not in the report. The report goes to stderr.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap exec -- kubectl get pods -A
  watchtap exec --format json --report run.json -- ./my-controller
  watchtap exec --capture run.cap -- ./my-controller      and later: watchtap read run.cap
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
    capture: CaptureFlags,

    #[command(flatten)]
    profile: ProfileFlags,

    /// Do not ask for /version; without --server-version every verdict is then unknown
    #[arg(long)]
    no_version_request: bool,

    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
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
        let kubeconfig = Kubeconfig::load(&environment()?)?;
        let selected = kubeconfig.current()?;
        warn_of_plugins(&selected);
        // Files are opened before the command runs: a report that cannot be written is better known then.
        let report = self.report.as_deref().map(create).transpose()?;
        let events = self.events.as_deref().map(events_to).transpose()?;
        let outputs = Outputs::new(events, self.capture.create()?);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("forwarding")
            .enable_all()
            .build()
            .context("cannot start the runtime")?;
        let observed = runtime.block_on(self.observe(&kubeconfig, &selected, outputs));
        // A name look-up that hangs would hold the runtime's end up.
        runtime.shutdown_background();
        let (code, outcome) = observed?;
        self.report(report, &selected, code, &outcome)?;
        Ok(code)
    }

    async fn observe(&self, kubeconfig: &Kubeconfig, selected: &Selected, outputs: Outputs) -> Result<(u8, Outcome)> {
        let clock = Clock::start();
        let profile = self.profile(selected).await;
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let observing = Observing::start(receiver, clock.now(), profile, selected.upstream.path_prefix.clone(), outputs)
            .context("cannot start the observing thread")?;
        let authority = PrivateAuthority::generate()?;
        let client = Client { ca_pem: authority.certificate_pem(), identity: authority.issue_client()? };
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let proxy = Proxy::bind(upstream::proxy_config(selected, authority, listen, intake, clock)?)?;
        let handle = proxy.handle();
        let folder = run_folder()?;
        let file = client.kubeconfig(&folder, kubeconfig, selected, proxy.local_addr())?;
        let serving = tokio::spawn(proxy.serve());

        let code = self.run_command(&file).await;
        // From here on a signal ends us at once, so what is private goes first.
        if let Err(error) = folder.remove() {
            say(format!("the private folder of this run could not be removed: {error}"));
        }
        handle.stop(GRACE).await;
        let counts = handle.counts();
        drop(handle);
        let served = serving.await.context("the proxy failed");
        let code = code?;
        served??;
        let mut outcome = tokio::task::spawn_blocking(|| observing.finish()).await??;
        outcome.troubles.extend(troubles(&counts));
        Ok((code, outcome))
    }

    async fn run_command(&self, kubeconfig: &Path) -> Result<u8> {
        let (command, arguments) = self.command.split_first().context("no command was given")?;
        let child = Child::spawn(command, arguments, &child::variables(kubeconfig, |name| std::env::var_os(name)))?;
        let status = child.wait_forwarding().await.context("cannot wait for the command")?;
        Ok(child::exit_code(status))
    }

    /// What the API server is: from flags, else from its own `/version`.
    async fn profile(&self, selected: &Selected) -> ServerProfile {
        let learned = if self.profile.server_version.is_some() || self.no_version_request {
            ServerProfile::default()
        } else {
            upstream::learn_version(selected).await
        };
        let profile = self.profile.over(learned);
        for sentence in ProfileFlags::without_effect(&profile) {
            say(sentence);
        }
        profile
    }

    fn report(&self, file: Option<File>, selected: &Selected, code: u8, outcome: &Outcome) -> Result<()> {
        let run = Run {
            subcommand: "exec",
            command: Run::shown(self.command.iter().map(|word| word.to_string_lossy())),
            exit_code: Some(i32::from(code)),
            silence: silence(selected),
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
fn silence(selected: &Selected) -> Vec<String> {
    vec![
        "Nothing came through watchtap. Usually that means that the command".to_owned(),
        "  · was told another kubeconfig or server (--kubeconfig, --server) than the KUBECONFIG it got from us".to_owned(),
        format!("  · used another context than `{}`, the current one (--context)", selected.context),
        "  · runs in a cluster and uses the address it finds there (KUBERNETES_SERVICE_HOST)".to_owned(),
        "  · made no request, or failed before it did".to_owned(),
    ]
}

/// What does not work yet for the user of this context.
fn warn_of_plugins(selected: &Selected) {
    if selected.exec_plugin {
        say(
            "the user of this context has an exec plug-in: its tokens pass, a certificate that it yields does not reach the API server yet",
        );
    }
    if selected.auth_provider {
        say(
            "the user of this context has an auth-provider: a token that it refreshes is written to the private copy and lost at the end",
        );
    }
}

fn environment() -> Result<Environment> {
    Ok(Environment {
        kubeconfig: std::env::var_os("KUBECONFIG"),
        home: std::env::home_dir(),
        working_directory: std::env::current_dir().context("the working directory is gone")?,
    })
}

fn run_folder() -> Result<RunFolder> {
    let runtime_directory = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    RunFolder::create(runtime_directory.as_deref(), &std::env::temp_dir()).context("cannot create a private folder for this run")
}

/// What a client needs to get in.
struct Client {
    ca_pem: String,
    identity: ClientIdentity,
}

impl Client {
    fn kubeconfig(
        &self,
        folder: &RunFolder,
        kubeconfig: &Kubeconfig,
        selected: &Selected,
        listener: SocketAddr,
    ) -> Result<PathBuf> {
        let pair = ClientCertificatePair { certificate_pem: &self.identity.certificate_pem, key_pem: &self.identity.key_pem };
        let client_certificate = selected.client_certificate.is_some().then_some(pair);
        let text = kubeconfig.client_copy(selected, &ClientEndpoint { listener, ca_pem: &self.ca_pem, client_certificate });
        folder.write("kubeconfig", text.as_bytes()).context("cannot write the private kubeconfig")
    }
}
