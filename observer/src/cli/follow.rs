//! The parts that `run` and `demo` share: first lines, page or live lines, shutdown, report.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use observer_core::series::TapWord;

use super::available_memory;
use super::flags::{AttachFlags, MetricsFlags, ReadyToAttach, Report};
use super::guidance::{self, Guidance};
use super::place::Place;
use super::recording::{self, Beside, Recording};
use super::shown::{self, Shown};
use crate::api_server::ProfileSource;
use crate::attach::{AttachServer, ServedRun};
use crate::memory_budget::MemoryBudget;
use crate::metrics::MetricsServer;
use crate::pipeline::{Outcome, Outputs, Snapshots};
use crate::printable::{print_error, print_message};
use crate::session::{self, Bound, Ends, SETTLING, Session, Shutdown, TapSet};
use crate::view::{Run, counted};

/// How a run is displayed, and how it ends.
#[derive(Clone, Debug, Args)]
pub(super) struct Follow {
    #[command(flatten)]
    recording: Recording,

    /// Drain timeout after shutdown is requested (default: 30s, with --in-cluster 20s)
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    grace: Option<Duration>,

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    metrics: MetricsFlags,

    #[command(flatten)]
    attach: AttachFlags,
}

/// Everything that is ready before private files exist.
pub(super) struct Ready<'f> {
    follow: &'f Follow,
    place: Place,
    memory: Box<MemoryBudget>,
    report: Report,
    outputs: Outputs,
    /// The snapshots of a page; `None` without one.
    snapshots: Option<Snapshots>,
    metrics: Option<MetricsServer>,
    attach: Option<ReadyToAttach>,
    ends: Ends,
}

/// A run in progress.
pub(super) struct Followed<'f> {
    follow: &'f Follow,
    place: Place,
    subcommand: &'static str,
    session: Session,
    report: Report,
    /// Serves until the run has ended.
    metrics: Option<MetricsServer>,
    /// Serves until the report is written.
    attach: Option<AttachServer>,
    ends: Ends,
    guidance: Guidance,
}

/// Follows a run on a runtime of its own, and reports its error.
pub(super) fn to_the_end(following: impl Future<Output = Result<ExitCode>>) -> ExitCode {
    let ended = session::runtime().and_then(|runtime| {
        let ended = runtime.block_on(following);
        // A name lookup that hangs would delay the end of the runtime.
        runtime.shutdown_background();
        ended
    });
    ended.unwrap_or_else(|error| {
        print_error(&error);
        ExitCode::FAILURE
    })
}

impl Follow {
    /// Opens the files and the port for metrics, and then lets signals request an orderly shutdown. In this order, a pipe without a
    /// reader can still be interrupted.
    ///
    /// In a pod, nothing there is a pipe of a user, and signals are listened for first: without that, the kernel drops a SIGTERM to
    /// the first process of a container.
    pub(super) fn ready(&self, place: Place) -> Result<Ready<'_>> {
        let early = (place == Place::Pod).then(Ends::open).transpose()?;
        let memory = available_memory::announced(&MemoryBudget { has_page: place == Place::Machine, ..MemoryBudget::default() });
        let (report, mut outputs) = self.recording.open(TapWord::Proxy, place.report(), Beside::default(), &memory)?;
        let shown = match place {
            Place::Machine => self.shown,
            Place::Pod => self.shown.for_a_log(),
        };
        let snapshots = shown.prepare(&mut outputs, self.recording.takes_stdout(), report.mute());
        let metrics = self.metrics.serve(|| outputs.series(report.mute()), TapWord::Proxy, &memory)?;
        let ends = early.map_or_else(Ends::open, Ok)?;
        // Its socket is no pipe, and has to be removed before a signal ends us.
        let attach = self.attach.bind(place.attach_socket().as_deref(), || outputs.snapshots(report.mute()), &memory)?;
        Ok(Ready { follow: self, place, memory: Box::new(memory), report, outputs, snapshots, metrics, attach, ends })
    }
}

impl<'f> Ready<'f> {
    /// The memory of the run's parts.
    pub(super) const fn memory(&self) -> &MemoryBudget {
        &self.memory
    }

    /// Completes `first`; `None` if shutdown was requested before that.
    #[cfg(feature = "demo")]
    pub(super) async fn unless_ended<T>(&mut self, first: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = first => Some(done),
            () = self.ends.next() => None,
        }
    }

    /// Prints where to point clients, then serves them; `None` if shutdown was requested before that.
    pub(super) async fn begin(
        self,
        subcommand: &'static str,
        bound: Bound,
        profiles: ProfileSource,
    ) -> Result<Option<Followed<'f>>> {
        let Self { follow, place, memory: _, report, outputs, snapshots, metrics, attach, mut ends } = self;
        if let Some(metrics) = &metrics {
            metrics.note_started();
        }
        let guidance = match place {
            Place::Machine => Guidance::with_kubeconfig(subcommand, bound.taps())?,
            Place::Pod => Guidance::in_pod(subcommand, bound.taps()),
        };
        let hint = attach.as_ref().filter(|_| snapshots.is_none()).and_then(|ready| guidance::attach_hint(place, ready.named()));
        guidance.introduce(hint.as_deref())?;
        let attach = attach.map(|ready| ready.serve(served(subcommand, bound.taps(), &guidance))).transpose()?.flatten();
        let page = |snapshots| shown::open_page(&guidance::name(bound.taps()), guidance.pointing.clone(), snapshots);
        ends.listen_to(snapshots.and_then(page));
        let session = tokio::select! {
            session = bound.serve(profiles, outputs) => session?,
            () = ends.next() => {
                guidance.print_last_line();
                return Ok(None);
            }
        };
        Ok(Some(Followed { follow, place, subcommand, session, report, metrics, attach, ends, guidance }))
    }
}

impl Followed<'_> {
    /// The kubeconfig file for clients.
    #[cfg(feature = "demo")]
    pub(super) fn kubeconfig(&self) -> std::path::PathBuf {
        self.guidance.kubeconfig()
    }

    /// Waits for a shutdown request and notes it.
    pub(super) async fn asked_to_end(&mut self) {
        self.ends.next().await;
        self.note_shutdown();
    }

    /// Notes that the run is about to end, before any client is disconnected.
    pub(super) fn note_shutdown(&self) {
        self.session.note_shutdown();
    }

    /// Drains open connections and reports; a further signal ends the run at once, except for a repeated SIGTERM in a pod.
    pub(super) async fn end(self) -> Result<ExitCode> {
        let Self { follow, place, subcommand, session, report, metrics: _metrics, attach: _attach, mut ends, guidance } = self;
        let Some(outcome) = drain(session, place, follow.grace, &mut ends).await? else {
            print_message("stopped at once: open connections were cut, there is no report, and a capture has no end mark");
            guidance.print_last_line();
            return Ok(ExitCode::from(place.exit_code_at_once()));
        };
        let silence = guidance.silence.clone();
        let run =
            Run { subcommand, command: Vec::new(), exit_code: None, silence, budget: None, log: None, notes: outcome.troubles };
        let snapshot = outcome.snapshot.without_findings(report.mute());
        recording::write(report, &run, &snapshot)?;
        guidance.print_last_line();
        Ok(ExitCode::SUCCESS)
    }
}

/// The run, for processes that are attached to it.
fn served(subcommand: &'static str, taps: &TapSet, guidance: &Guidance) -> ServedRun {
    ServedRun {
        subcommand,
        command: Vec::new(),
        name: guidance::name(taps),
        guidance: guidance.pointing.clone(),
        api_servers: guidance::api_servers(taps),
        silence: guidance.silence.clone(),
        notes: Box::new(taps.notes()),
    }
}

/// `None` if a further signal came first.
async fn drain(session: Session, place: Place, grace: Option<Duration>, ends: &mut Ends) -> Result<Option<Outcome>> {
    let shutdown = place.shutdown(grace);
    if session.taps().counts().open() > 0 {
        tokio::time::sleep(SETTLING).await;
    }
    let open = session.taps().counts().open();
    if open > 0 {
        print_message(waiting(open, shutdown));
    }
    tokio::select! {
        outcome = session.shut_down(shutdown) => outcome.map(Some),
        () = ends.next_but(place.ignored_at_shutdown()) => Ok(None),
    }
}

/// The message about connections that are open when shutdown is requested.
fn waiting(open: u64, shutdown: Shutdown) -> String {
    let connections = counted(open, "connection");
    match shutdown {
        Shutdown::Drain(grace) => {
            let grace = humantime::format_duration(grace);
            format!("draining: no new connections; {connections} may finish within {grace} (--grace). Ctrl-C again stops at once")
        }
        Shutdown::WhenIdle(limit) => {
            let limit = humantime::format_duration(limit);
            format!("stopping: clients are served until none is connected, for at most {limit} (--grace); {connections} open")
        }
    }
}
