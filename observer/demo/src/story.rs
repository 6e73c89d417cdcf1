//! Plays a script: starts and ends clients, and applies the due acts to the API server.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::DemoHandle;
use super::cast::Stage;
use super::clock::Clock;
use super::script::{Act, Repetition, Script, Step};

/// A step of a script, for its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening<'h> {
    /// A message of the script.
    Message(&'h str),
    /// A fault begins.
    Fault {
        /// The fault, in the words of the script.
        act: &'h str,
        /// The message of the script about it; empty if there is none.
        note: &'h str,
    },
}

/// Plays the script at `speed` times its normal speed, until the future is dropped. Clients connect with `kubeconfig`. An error is
/// returned if a client cannot start.
pub async fn play(
    script: &Script,
    handle: DemoHandle,
    kubeconfig: PathBuf,
    speed: u32,
    report: impl Fn(Happening<'_>) + Send + Sync,
) -> Result<()> {
    let _playback = play_to_the_end(script, handle, kubeconfig, speed, report).await?;
    // The script is over, but its clients continue to run.
    std::future::pending().await
}

/// Plays the script to its last line, and ends its clients. A script with `repeat` never ends.
pub async fn play_once(
    script: &Script,
    handle: DemoHandle,
    kubeconfig: PathBuf,
    speed: u32,
    report: impl Fn(Happening<'_>) + Send + Sync,
) -> Result<()> {
    play_to_the_end(script, handle, kubeconfig, speed, report).await.map(drop)
}

/// Returns the playback, whose clients run until it is dropped.
async fn play_to_the_end<R: Fn(Happening<'_>) + Send + Sync>(
    script: &Script,
    handle: DemoHandle,
    kubeconfig: PathBuf,
    speed: u32,
    report: R,
) -> Result<Playback<R>> {
    let clock = Clock::start(speed);
    let mut playback =
        Playback { stage: Stage::new(kubeconfig, clock)?, clock, handle, report, printed: None, later: JoinSet::new() };
    playback.steps(&script.once).await?;
    while !script.round.is_empty() {
        playback.steps(&script.round).await?;
    }
    Ok(playback)
}

struct Playback<R> {
    stage: Stage,
    clock: Clock,
    handle: DemoHandle,
    report: R,
    /// The last message, and when it was due.
    printed: Option<(Duration, String)>,
    /// Acts that last.
    later: JoinSet<()>,
}

impl<R: Fn(Happening<'_>)> Playback<R> {
    /// Plays steps in order. An act that takes time delays later ones, so that the pauses between them stay the same.
    async fn steps(&mut self, steps: &[Step]) -> Result<()> {
        let mut before = Duration::ZERO;
        // Times count from zero again.
        self.printed = None;
        for step in steps {
            sleep(self.clock.lasts(step.at.saturating_sub(before))).await;
            before = step.at;
            self.announce(step);
            self.act(&step.act).await?;
        }
        Ok(())
    }

    /// Reports a message or a fault. A message describes the first fault that is due at the same time.
    fn announce(&mut self, step: &Step) {
        if let Act::Print(text) = &step.act {
            (self.report)(Happening::Message(&format!("demo: {text}")));
            self.printed = Some((step.at, text.clone()));
        } else if step.act.is_fault() {
            let note = self.printed.take().filter(|(at, _)| *at == step.at);
            (self.report)(Happening::Fault { act: &step.words, note: note.as_ref().map_or("", |(_, text)| text) });
        }
    }

    async fn act(&mut self, act: &Act) -> Result<()> {
        match act {
            Act::Start(actor) => self.stage.start(actor).await?,
            Act::Stop(name) => self.stage.stop(name),
            // An error means that the server was dropped, and then this task is dropped too.
            Act::Restart { down_for } => drop(self.handle.restart(self.clock.lasts(*down_for)).await),
            Act::Restore { down_for } => drop(self.handle.restore(self.clock.lasts(*down_for)).await),
            Act::Expire(Some(resource)) => self.handle.expire_watches_of(resource),
            Act::Expire(None) => self.handle.expire_watches(),
            Act::EndWatches(None) => self.handle.end_watches(),
            Act::EndWatches(Some(Repetition { every, lasting })) => {
                let (handle, every, lasting) = (self.handle.clone(), self.clock.lasts(*every), self.clock.lasts(*lasting));
                // Ends with the clients, when the playback is dropped.
                self.later.spawn(async move {
                    let _over = timeout(lasting, async {
                        loop {
                            handle.end_watches();
                            sleep(every).await;
                        }
                    })
                    .await;
                });
            }
            Act::Deaf { resource, lasting } => {
                self.handle.deafen(*resource);
                let (handle, resource, lasting) = (self.handle.clone(), *resource, self.clock.lasts(*lasting));
                self.later.spawn(async move {
                    sleep(lasting).await;
                    handle.end_deaf_watches(resource);
                });
            }
            Act::Answer { answer, lasting } => self.handle.answer_with(*answer, self.clock.lasts(*lasting)),
            Act::NoBookmarks { lasting } => self.handle.drop_bookmarks(self.clock.lasts(*lasting)),
            Act::NoListEnd { lasting } => self.handle.drop_list_ends(self.clock.lasts(*lasting)),
            Act::Slow { bytes_per_second, lasting } => {
                self.handle.slow_down(self.clock.rate(*bytes_per_second), self.clock.lasts(*lasting));
            }
            Act::Rewind => self.handle.rewind(),
            Act::Compact => self.handle.compact(),
            Act::Backup => self.handle.back_up(),
            Act::Print(_) | Act::Wait => {}
        }
        Ok(())
    }
}
