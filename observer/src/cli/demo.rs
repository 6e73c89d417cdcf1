//! `watchtap demo`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use observer_demo::story::Happening;
use observer_demo::{DemoConfig, DemoServer, Script, populate, reference, story};
use tokio::task::JoinSet;

use super::follow::{self, Follow};
use super::output::printed;
use super::place::Place;
use crate::api_server::ProfileSource;
use crate::bounded_file;
use crate::error_chain;
use crate::kubeconfig::{Environment, Kubeconfig};
use crate::printable::{Printable, print_message, stdout};
use crate::session::{Bound, ListenerOptions, private_folder};

/// The line of this command among the examples.
pub(super) const EXAMPLE: &str = "\n  watchtap demo";

/// Runs a demo cluster in this process, with clients of many kinds, and observes it like a real one.
///
/// The cluster is watchtap's own small API server, which follows the rules of Kubernetes 1.34. Its clients use kube-rs or behave like
/// several releases of client-go. They connect through the same proxy as the clients of `watchtap run`. kubectl can connect, too.
/// Nothing leaves this machine.
///
/// A script decides what happens: watches expire, the API server restarts, etcd is restored from an older backup, a client stops
/// reading. On a terminal, a live page shows it (? shows the keys, q quits).
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap demo
  watchtap demo --speed 3
  watchtap demo --print-script > my.script
  watchtap demo --script my.script
  watchtap demo --events - | jq .event

EXIT CODES:
  0    stopped on request
  1    watchtap failed
  2    usage error
  130  stopped at once by a second signal")]
pub(super) struct Demo {
    #[command(flatten)]
    follow: Follow,

    /// Speed up the script, the server's intervals (such as bookmarks) and the clients' pauses by this factor
    #[arg(long, value_name = "FACTOR", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    speed: u32,

    /// Play this script instead of the standard one (docs/demo.md)
    #[arg(long, value_name = "FILE", value_parser = script_file)]
    script: Option<Script>,

    /// Print the reference of the script language, and exit
    #[arg(long, conflicts_with_all = ["script", "print_script"])]
    list: bool,

    /// Print the standard script, and exit
    #[arg(long, conflicts_with = "script")]
    print_script: bool,
}

/// Parses a script for clap, which adds the flag to an error.
pub(super) fn script_file(file: &str) -> Result<Script, String> {
    let text = bounded_file::read_text(Path::new(file), Script::MOST_BYTES as u64).map_err(|error| error.to_string())?;
    Script::parse(file, &text).map_err(|error| error.to_string())
}

impl Demo {
    pub(super) fn run(&self) -> ExitCode {
        let text = match (self.list, self.print_script) {
            (true, _) => Printable::lines(reference()),
            (false, true) => Printable::words(Script::standard_text()),
            (false, false) => return follow::to_the_end(play(&self.follow, self.speed, self.script.clone())),
        };
        let mut out = stdout();
        printed(out.print(&text).and_then(|()| out.flush()))
    }
}

/// Plays the standard script because `run --or-demo` has no cluster to watch.
pub(super) async fn play_instead(follow: &Follow, why: &anyhow::Error) -> Result<ExitCode> {
    print_message(format!("no cluster to observe, so this is the demo: {}", error_chain::in_words(why.as_ref())));
    Box::pin(play(follow, 1, None)).await
}

/// Starts the API server, connects its clients through a tap, and follows the run to its end.
async fn play(follow: &Follow, speed: u32, script: Option<Script>) -> Result<ExitCode> {
    let script = script.map_or_else(Script::standard, Ok)?;
    let server = DemoServer::start(DemoConfig { speed, ..DemoConfig::default() })?;
    print_message(format!("the demo's API server listens on {}", server.address()));
    let mut ready = follow.ready(Place::Machine)?;
    let folder = private_folder()?;
    let own = folder.write("demo-kubeconfig", server.kubeconfig().as_bytes()).context("cannot write the demo's kubeconfig")?;
    match ready.unless_ended(populate(&own)).await {
        Some(populated) => populated?,
        None => return Ok(ExitCode::SUCCESS),
    }
    let kubeconfig = kubeconfig(&own)?;
    let bound = Bound::new(&kubeconfig, kubeconfig.pairs()?, ListenerOptions::default(), ready.memory())?;
    let Some(mut followed) = ready.begin("demo", bound, ProfileSource::default()).await? else { return Ok(ExitCode::SUCCESS) };
    let mut cast = JoinSet::new();
    let (handle, kubeconfig) = (server.handle(), followed.kubeconfig());
    // The clients that the script tests are the demo's own, and its message describes each fault.
    let report = |happening: Happening<'_>| match happening {
        Happening::Message(text) => print_message(text),
        Happening::Fault { .. } => {}
    };
    cast.spawn(async move { story::play(&script, handle, kubeconfig, speed, report).await });
    tokio::select! {
        () = followed.asked_to_end() => {}
        Some(ended) = cast.join_next() => ended.context("the demo's clients failed")??,
    }
    followed.note_shutdown();
    // The demo's own clients stop first: draining does not wait for them.
    cast.shutdown().await;
    let ended = followed.end().await;
    drop(server);
    ended
}

fn kubeconfig(file: &Path) -> Result<Kubeconfig> {
    let environment = Environment { kubeconfig: Some(OsString::from(file)), home: None, working_directory: PathBuf::from("/") };
    Ok(Kubeconfig::load(&environment)?)
}
