//! Plays a script: starts and ends clients, and applies the due acts to the API server.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use super::DemoHandle;
use super::cast::Stage;
use super::clock::Clock;
use super::script::{Act, Script, Step};

/// Plays the script at `speed` times its normal speed, until the future is dropped. Clients connect with `kubeconfig`. An error is
/// returned if a client cannot start.
pub async fn play(
    script: &Script,
    handle: DemoHandle,
    kubeconfig: PathBuf,
    speed: u32,
    say: impl Fn(&str) + Send + Sync,
) -> Result<()> {
    let clock = Clock::start(speed);
    let mut playback = Playback { stage: Stage::new(kubeconfig, clock)?, clock, handle, say };
    playback.steps(&script.once).await?;
    while !script.round.is_empty() {
        playback.steps(&script.round).await?;
    }
    // The script is over, but its clients continue to run.
    std::future::pending().await
}

struct Playback<S> {
    stage: Stage,
    clock: Clock,
    handle: DemoHandle,
    say: S,
}

impl<S: Fn(&str)> Playback<S> {
    /// Plays steps in order. An act that takes time delays later ones, so that the pauses between them stay the same.
    async fn steps(&mut self, steps: &[Step]) -> Result<()> {
        let mut before = Duration::ZERO;
        for step in steps {
            sleep(self.clock.lasts(step.at.saturating_sub(before))).await;
            before = step.at;
            self.act(&step.act).await?;
        }
        Ok(())
    }

    async fn act(&mut self, act: &Act) -> Result<()> {
        match act {
            Act::Print(text) => (self.say)(&format!("demo: {text}")),
            Act::Start(actor) => self.stage.start(actor).await?,
            Act::Stop(name) => self.stage.stop(name),
            // An error means that the server was dropped, and then this task is dropped too.
            Act::Restart { down_for } => drop(self.handle.restart(self.clock.lasts(*down_for)).await),
            Act::Restore { down_for } => drop(self.handle.restore(self.clock.lasts(*down_for)).await),
            Act::Expire(resource) => self.handle.expire_watches_of(resource),
            Act::EndWatches => self.handle.end_watches(),
            Act::Compact => self.handle.compact(),
            Act::Backup => self.handle.back_up(),
            Act::Wait => {}
        }
        Ok(())
    }
}
