//! `watchtap run`.

use std::io::{self, LineWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::output::{say, say_error};
use super::profiles::Profiles;
use super::recording::Recording;
use super::session::{self, Bound, Session};
use super::tap_set::TapSet;
use super::upstream_flags::UpstreamFlags;
use crate::observing::Outcome;
use crate::view::{Colour, EventSink, LiveLines, Run as Ran};

/// Stands between clients and the API server until interrupted, and says live which layer answered each of their requests.
///
/// Only clients that are pointed here are seen: watchtap writes a kubeconfig for them and says where it is. Every byte is passed on
/// unchanged. The first ctrl-C (or SIGTERM) lets nobody in any more and gives the connections that are open time to end, the second ends at
/// once. watchtap sends one request of its own to each API server that is used, GET /version, which is not in the report.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap run
  watchtap run --context kind-dev --report report.txt
  watchtap run --events - | jq 'select(.event == \"request\" and .verdict.served_from == \"Etcd\")'
  watchtap run --upstream https://10.0.0.1:6443 --upstream-ca ca.crt --listen 127.0.0.1:7443

EXIT CODES:
  0 ended after it was asked to · 1 watchtap failed · 2 wrong usage · 130 ended at once by the second signal")]
pub(super) struct Run {
    #[command(flatten)]
    recording: Recording,

    #[command(flatten)]
    upstream: UpstreamFlags,

    #[command(flatten)]
    profiles: Profiles,

    /// How long open connections may go on once an end was asked for
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = humantime::parse_duration)]
    grace: Duration,

    /// No live lines: only what --events and --report say
    #[arg(long, short)]
    quiet: bool,
}

/// Signals that ask for the end. The end of the terminal is one of them.
struct Ends {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

/// What the second signal is answered with, as a shell says it.
const ENDED_AT_ONCE: u8 = 130;

impl Run {
    pub(super) fn run(&self) -> ExitCode {
        match self.execute() {
            Ok(code) => code,
            Err(error) => {
                say_error(&error);
                ExitCode::FAILURE
            }
        }
    }

    fn execute(&self) -> Result<ExitCode> {
        let runtime = session::runtime()?;
        let ended = runtime.block_on(self.observe());
        // A name look-up that hangs would hold the runtime's end up.
        runtime.shutdown_background();
        ended
    }

    async fn observe(&self) -> Result<ExitCode> {
        let mut ends = Ends::listen().context("cannot listen for signals")?;
        let bound = Bound::new(&self.upstream)?;
        let (report, mut outputs) = self.recording.open()?;
        introduce(bound.taps())?;
        let file = bound.taps().kubeconfigs().first().cloned().unwrap_or_default();
        if let Some(lines) = self.live_lines() {
            outputs.add(lines);
        }
        let session = tokio::select! {
            session = bound.serve(&self.profiles, outputs) => session?,
            () = ends.next() => return Ok(ExitCode::SUCCESS),
        };
        ends.next().await;
        let Some(outcome) = self.drain(session, &mut ends).await? else {
            say("ended at once: connections were cut, and there is no report");
            return Ok(ExitCode::from(ENDED_AT_ONCE));
        };
        let run = Ran { subcommand: "run", command: Vec::new(), exit_code: None, silence: silence(), notes: outcome.troubles };
        report.write(&run, &outcome.snapshot)?;
        farewell(&file);
        Ok(ExitCode::SUCCESS)
    }

    fn live_lines(&self) -> Option<Box<dyn EventSink>> {
        if self.quiet {
            return None;
        }
        let no_color = std::env::var_os("NO_COLOR");
        Some(if self.recording.takes_stdout() {
            Box::new(LiveLines::new(LineWriter::new(io::stderr()), Colour::for_stream(&io::stderr(), no_color.as_deref())))
        } else {
            Box::new(LiveLines::new(LineWriter::new(io::stdout()), Colour::for_stream(&io::stdout(), no_color.as_deref())))
        })
    }

    /// `None` when the second signal came first.
    async fn drain(&self, session: Session, ends: &mut Ends) -> Result<Option<Outcome>> {
        let open = session.taps().counts().open();
        let grace = humantime::format_duration(self.grace);
        if open > 0 {
            let connections = if open == 1 { "1 connection".to_owned() } else { format!("{open} connections") };
            say(format!(
                "draining: nobody new is let in; {connections} may go on for {grace} (--grace); ctrl-C again ends at once"
            ));
        }
        tokio::select! {
            outcome = session.end(self.grace) => outcome.map(Some),
            () = ends.next() => Ok(None),
        }
    }
}

impl Ends {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

/// The first lines: what is watched, and how a client comes to be seen.
fn introduce(taps: &TapSet) -> Result<()> {
    let mut out = io::stderr().lock();
    for listener in taps.listeners() {
        let contexts = listener.pair.contexts.join(", ");
        let contexts = if contexts.is_empty() { String::new() } else { format!("   ({contexts})") };
        writeln!(out, "watchtap run: {} is reached at {}{contexts}", listener.upstream_name(), listener.address)?;
    }
    let variable = taps.kubeconfig_variable()?;
    writeln!(out, "Only clients that are pointed here are seen. In the shell of a client:\n")?;
    writeln!(out, "    export KUBECONFIG={}\n", quoted(&variable.to_string_lossy()))?;
    if let [file] = taps.kubeconfigs() {
        writeln!(out, "or give the client --kubeconfig {}", quoted(&file.to_string_lossy()))?;
    }
    writeln!(out, "ctrl-C ends, and gives open connections time to end first · times are UTC · ~ means predicted\n")?;
    Ok(())
}

/// The last line. A kubeconfig that has vanished is no error to kubectl, which goes to localhost:8080 then.
fn farewell(file: &Path) {
    say(format!(
        "unset KUBECONFIG in the shells that have it: {} is gone, and kubectl without a kubeconfig goes to localhost:8080",
        file.display()
    ));
}

fn silence() -> Vec<String> {
    vec!["Nobody came through watchtap: a client is seen only with the KUBECONFIG that was shown at the start.".to_owned()]
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-:+@%,=".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_pasted_is_one_word_of_a_shell() {
        for (word, expected) in
            [("/run/user/0/kubeconfig", "/run/user/0/kubeconfig"), ("/a b/c", "'/a b/c'"), ("it's", r"'it'\''s'"), ("", "''")]
        {
            assert_eq!(quoted(word), expected);
        }
    }
}
