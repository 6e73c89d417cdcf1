//! `watchtap demo`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use tokio::task::JoinSet;

use super::follow::{self, Follow};
use super::output::say;
use super::profiles::Profiles;
use super::session::Bound;
use super::tap_set::run_folder;
use super::upstream_flags::UpstreamFlags;
use crate::demo::{DemoConfig, DemoServer, company, story};
use crate::kubeconfig::{Environment, Kubeconfig};

/// A cluster that lives in this process, with clients of many kinds, seen through watchtap as a real one would be.
///
/// The API server is a small one of our own that answers by the rules of Kubernetes 1.34; its clients are controllers, watchers and pollers
/// of kube-rs, which come through the same proxy as `watchtap run`. Every minute something happens to them: their watches expire, the API
/// server restarts. Nothing leaves this machine. kubectl can be pointed here, too.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap demo
  watchtap demo --speed 5
  watchtap demo --events - | jq .event

EXIT CODES:
  0 ended after it was asked to · 1 watchtap failed · 2 wrong usage · 130 ended at once by a second signal")]
pub(super) struct Demo {
    #[command(flatten)]
    follow: Follow,

    /// How many times faster than usual the story and the server's own periods pass
    #[arg(long, value_name = "FACTOR", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    speed: u32,
}

impl Demo {
    pub(super) fn run(&self) -> ExitCode {
        follow::to_the_end(play(&self.follow, self.speed))
    }
}

/// Starts the API server, leads its clients through a tap, and follows that until the end.
pub(super) async fn play(follow: &Follow, speed: u32) -> Result<ExitCode> {
    let server = DemoServer::start(DemoConfig { speed, ..DemoConfig::default() })?;
    say(format!("the demo's API server listens on {}", server.address()));
    let mut ready = follow.ready()?;
    let folder = run_folder()?;
    let own = folder.write("demo-kubeconfig", server.kubeconfig().as_bytes()).context("cannot write the demo's kubeconfig")?;
    match ready.unless_ended(company::furnish(&own)).await {
        Some(furnished) => furnished?,
        None => return Ok(ExitCode::SUCCESS),
    }
    let kubeconfig = kubeconfig(&own)?;
    let bound = Bound::new(&kubeconfig, kubeconfig.pairs()?, &UpstreamFlags::default())?;
    let Some(mut followed) = ready.begin("demo", bound, &Profiles::default()).await? else { return Ok(ExitCode::SUCCESS) };
    let mut cast = JoinSet::new();
    cast.spawn(company::play(followed.kubeconfig().clone(), speed));
    cast.spawn(story::tell(server.handle(), Duration::from_secs(1) / speed, |line| say(line)));
    tokio::select! {
        () = followed.asked_to_end() => {}
        Some(ended) = cast.join_next() => ended.context("the demo's clients failed")??,
    }
    // Its own clients are not waited for.
    cast.shutdown().await;
    let ended = followed.end().await;
    drop(server);
    ended
}

fn kubeconfig(file: &Path) -> Result<Kubeconfig> {
    let environment = Environment { kubeconfig: Some(OsString::from(file)), home: None, working_directory: PathBuf::from("/") };
    Ok(Kubeconfig::load(&environment)?)
}
