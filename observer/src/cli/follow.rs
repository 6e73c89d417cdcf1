//! The parts that `run` and `demo` share: first lines, page or live lines, shutdown, report.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use observer_core::series::TapWord;

use super::flags::{MetricsFlags, Report};
use super::recording::{self, Beside, Recording};
use super::shown::{self, Shown};
use crate::api_server::ProfileSource;
use crate::metrics::MetricsServer;
use crate::pipeline::{Outcome, Outputs, Snapshots};
use crate::printable::{Printable, print_error, print_message, stderr};
use crate::session::{self, Bound, ENDED_AT_ONCE, Ends, SETTLING, Session, TapSet};
use crate::view::{Run, counted};

/// How a run is displayed, and how it ends.
#[derive(Clone, Debug, Args)]
pub(super) struct Follow {
    #[command(flatten)]
    recording: Recording,

    /// Drain timeout after shutdown is requested
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = humantime::parse_duration)]
    grace: Duration,

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    metrics: MetricsFlags,
}

/// Everything that is ready before private files exist.
pub(super) struct Ready<'f> {
    follow: &'f Follow,
    report: Report,
    outputs: Outputs,
    /// The snapshots of a page; `None` without one.
    snapshots: Option<Snapshots>,
    metrics: Option<MetricsServer>,
    ends: Ends,
}

/// A run in progress.
pub(super) struct Followed<'f> {
    follow: &'f Follow,
    subcommand: &'static str,
    session: Session,
    report: Report,
    /// Serves until the run has ended.
    metrics: Option<MetricsServer>,
    ends: Ends,
    kubeconfig: PathBuf,
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
    /// Opens the files and the port for metrics, and then lets signals request an orderly shutdown. In this order, a pipe without a reader can still be
    /// interrupted.
    pub(super) fn ready(&self) -> Result<Ready<'_>> {
        let (report, mut outputs) = self.recording.open(TapWord::Proxy, Beside::default())?;
        let snapshots = self.shown.prepare(&mut outputs, self.recording.takes_stdout(), report.mute());
        let metrics = self.metrics.serve(|| outputs.series(report.mute()), TapWord::Proxy)?;
        Ok(Ready { follow: self, report, outputs, snapshots, metrics, ends: Ends::open()? })
    }
}

impl<'f> Ready<'f> {
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
        let Self { follow, report, outputs, snapshots, metrics, mut ends } = self;
        if let Some(metrics) = &metrics {
            metrics.note_started();
        }
        let pointing = pointing(bound.taps())?;
        introduce(subcommand, bound.taps(), &pointing)?;
        ends.listen_to(snapshots.and_then(|snapshots| shown::open_page(&name(bound.taps()), pointing, snapshots)));
        let kubeconfig = bound.taps().kubeconfigs().first().cloned().unwrap_or_default();
        let session = tokio::select! {
            session = bound.serve(profiles, outputs) => session?,
            () = ends.next() => {
                print_last_line(&kubeconfig);
                return Ok(None);
            }
        };
        Ok(Some(Followed { follow, subcommand, session, report, metrics, ends, kubeconfig }))
    }
}

impl Followed<'_> {
    /// The kubeconfig file for clients.
    #[cfg(feature = "demo")]
    pub(super) fn kubeconfig(&self) -> &PathBuf {
        &self.kubeconfig
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

    /// Drains open connections and reports; a further signal ends the run at once.
    pub(super) async fn end(self) -> Result<ExitCode> {
        let Self { follow, subcommand, session, report, metrics: _metrics, mut ends, kubeconfig } = self;
        let Some(outcome) = drain(session, follow.grace, &mut ends).await? else {
            print_message("stopped at once: open connections were cut, there is no report, and a capture has no end mark");
            print_last_line(&kubeconfig);
            return Ok(ExitCode::from(ENDED_AT_ONCE));
        };
        let silence =
            vec!["No client connected through watchtap. Clients have to use the KUBECONFIG shown at the start.".to_owned()];
        let run = Run { subcommand, command: Vec::new(), exit_code: None, silence, budget: None, notes: outcome.troubles };
        let snapshot = outcome.snapshot.without_findings(report.mute());
        recording::write(report, &run, &snapshot)?;
        print_last_line(&kubeconfig);
        Ok(ExitCode::SUCCESS)
    }
}

/// `None` if a further signal came first.
async fn drain(session: Session, grace: Duration, ends: &mut Ends) -> Result<Option<Outcome>> {
    if session.taps().counts().open() > 0 {
        tokio::time::sleep(SETTLING).await;
    }
    let open = session.taps().counts().open();
    if open > 0 {
        let connections = if open == 1 { "1 connection".to_owned() } else { format!("{open} connections") };
        let for_so_long = humantime::format_duration(grace);
        print_message(format!(
            "draining: no new connections; {connections} may finish within {for_so_long} (--grace). Ctrl-C again stops at once"
        ));
    }
    tokio::select! {
        outcome = session.end(grace) => outcome.map(Some),
        () = ends.next() => Ok(None),
    }
}

/// The last line. kubectl accepts a kubeconfig that has vanished, and then connects to localhost:8080.
fn print_last_line(kubeconfig: &Path) {
    print_message(format!(
        "{} has been removed. Run `unset KUBECONFIG` in shells that still name it: until then, kubectl there connects to localhost:8080",
        kubeconfig.display()
    ));
}

/// The first lines: the observed contexts, and how to point a client here.
fn introduce(subcommand: &str, taps: &TapSet, pointing: &[String]) -> Result<()> {
    let mut out = Printable::new();
    for listener in taps.listeners() {
        let contexts = match listener.pair.contexts.as_slice() {
            [] => String::new(),
            [context] => format!(" (context {context})"),
            contexts => format!(" (contexts {})", contexts.join(", ")),
        };
        let (name, address) = (listener.upstream_name(), listener.address);
        out.push_line(format_args!("watchtap {subcommand}: clients reach {name} through {address}{contexts}"));
    }
    for line in pointing {
        out.push_line(line);
    }
    out.push_line("Ctrl-C drains open connections, then prints a report · times are UTC · ~ means predicted");
    out.end_line();
    Ok(stderr().print(&out)?)
}

/// Instructions that lead clients here.
fn pointing(taps: &TapSet) -> Result<Vec<String>> {
    let variable = taps.kubeconfig_variable()?;
    let mut lines = vec![
        "Only clients with this kubeconfig are observed. In the shell of a client:".to_owned(),
        String::new(),
        format!("    export KUBECONFIG={}", quoted(&variable.to_string_lossy())),
        String::new(),
    ];
    if let [file] = taps.kubeconfigs() {
        lines.push(format!("or start the client with --kubeconfig {}", quoted(&file.to_string_lossy())));
    }
    Ok(lines)
}

/// The name of the run: its context if there is one only, otherwise the number of contexts.
pub(super) fn name(taps: &TapSet) -> String {
    let contexts: Vec<&str> = taps.listeners().iter().flat_map(|listener| &listener.pair.contexts).map(String::as_str).collect();
    match *contexts {
        [context] => context.to_owned(),
        _ => counted(contexts.len() as u64, "context"),
    }
}

/// A word, quoted for a shell if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-:+@%,=".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_path_is_quoted_as_one_shell_word() {
        for (word, expected) in
            [("/run/user/0/kubeconfig", "/run/user/0/kubeconfig"), ("/a b/c", "'/a b/c'"), ("it's", r"'it'\''s'"), ("", "''")]
        {
            assert_eq!(quoted(word), expected);
        }
    }
}
