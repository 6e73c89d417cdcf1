//! `watchtap read --follow`: reads logs as they grow, until a signal or the user of the page ends it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use observer_core::logs::LogReplay;
use observer_core::observation::{Observation, Subject, UpstreamName, UpstreamObservation};
use observer_core::routing::ServerProfile;
use tokio::sync::oneshot;

use super::flags::LogZoneFlags;
use super::read::{Replayed, Replaying};
use super::{read_logs, shown};
use crate::input_file::{Content, InputFile, is_stdin};
use crate::log_files::{Caller, Changes, FollowedFiles};
use crate::pipeline::{Publisher, Snapshots};
use crate::session::Ends;
use crate::terminal::is_for_a_page;
use crate::view::Run;

/// How long records wait to be put in order, by the times in the logs. Servers write an event within milliseconds.
const HELD: Duration = Duration::from_secs(2);
/// Longest pause between two looks at the files. It matters where no changes are reported, such as on network file systems.
const PAUSE: Duration = Duration::from_millis(500);

/// Follows logs to the end. With `mute`, a terminal shows the page, without these findings.
pub(super) fn follow(
    mut replaying: Replaying<'_>,
    paths: &[PathBuf],
    zone: LogZoneFlags,
    profile: ServerProfile,
    mute: Option<&[String]>,
) -> Result<Replayed> {
    refuse_captures(paths)?;
    let (mut changes, caller) = Changes::open().context("cannot watch for changes of files")?;
    let mut files = FollowedFiles::open(paths, zone.zone(), &changes)?;
    let mut replay = profile.version.iter().fold(LogReplay::default(), LogReplay::with_version);
    files.begin(&mut replay);
    let mut publisher = Publisher::new(mute.unwrap_or_default().to_vec());
    let page = (mute.is_some() && is_for_a_page()).then(|| publisher.source().subscribe());
    let has_page = page.is_some();
    let ending = Ending::open(page, Run::shown(paths.iter().map(|path| path.to_string_lossy())).join(" "), caller)?;
    let mut profile = Some(Box::new(profile));
    let mut each = |replaying: &mut Replaying<'_>, observation: Observation| {
        if let Some(profile) = profile.take() {
            let subject = Subject::Upstream(UpstreamName::default(), UpstreamObservation::Profile { profile });
            replaying.observe(Duration::ZERO, Observation { at: observation.at, subject });
        }
        replaying.observe(Duration::ZERO, observation);
    };
    let (mut idle_since, mut failed) = (Instant::now(), Vec::new());
    while !ending.is_over() && !files.is_over() {
        let read = files.read(&mut replay, &mut |observation| each(&mut replaying, observation), &changes);
        let has_more = read.unwrap_or_else(|error| {
            read_logs::warn_of(&error);
            failed.push(error);
            true
        });
        if has_more {
            idle_since = Instant::now();
        } else if let Some(reached) = files.reached() {
            // All that has been written is read, so no file is behind another. A record after that time may have a wrong one.
            let is_quiet = idle_since.elapsed() >= HELD;
            let until = if is_quiet { reached } else { reached.minus(HELD) };
            replay.pass_on(until, &mut |observation| each(&mut replaying, observation));
        }
        replaying.note_missed(replay.missed());
        if has_page {
            publisher.note_change();
            publisher.publish_if_due(&replaying.observer);
        }
        replaying.answer_metrics();
        if !has_more {
            changes.wait(PAUSE).context("cannot wait for changes of files")?;
        }
    }
    drop(ending);
    files.finish(&mut replay, &mut |observation| each(&mut replaying, observation));
    let extent = replay.extent();
    let is_complete = read_logs::is_complete(paths, &extent, &failed)?;
    Ok(replaying.end(is_complete, Some(extent)))
}

/// Refuses captures, which are complete when they are read.
fn refuse_captures(paths: &[PathBuf]) -> Result<()> {
    // Others than regular files would have to be opened twice.
    for path in paths.iter().filter(|path| !is_stdin(path) && path.is_file()) {
        let file = InputFile::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        if file.content() == Content::Capture {
            bail!("{}: --follow is for logs, and this is a capture: read it without the flag", path.display());
        }
    }
    Ok(())
}

/// Waits for a request to end, on a thread of its own, which also has the page.
struct Ending {
    is_over: Arc<AtomicBool>,
    /// Dropped to close the page without such a request.
    giving_up: Option<oneshot::Sender<()>>,
    /// Closed once the page is.
    closed: mpsc::Receiver<()>,
}

impl Ending {
    /// Shows the page, if there is to be one, and listens for signals.
    fn open(page: Option<Snapshots>, name: String, mut caller: Caller) -> Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_over);
        let (giving_up, given_up) = oneshot::channel::<()>();
        let (opening, opened) = mpsc::channel();
        let (closing, closed) = mpsc::channel();
        let wait = move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(opening.send(Err(error.into()))),
            };
            let _entered = runtime.enter();
            let mut ends = match Ends::open() {
                Ok(ends) => ends,
                Err(error) => return drop(opening.send(Err(error))),
            };
            ends.listen_to(page.and_then(|snapshots| shown::open_page(&name, guidance(), snapshots)));
            let _receiver_gone = opening.send(Ok(()));
            runtime.block_on(async {
                tokio::select! {
                    () = ends.next() => {}
                    _dropped = given_up => {}
                }
            });
            // Restores the terminal.
            ends.listen_to(None);
            drop(closing);
            ended.store(true, Ordering::SeqCst);
            caller.call();
        };
        thread::Builder::new().name("ends".to_owned()).spawn(wait).context("cannot start a thread")?;
        opened.recv().context("the thread for signals is gone")??;
        Ok(Self { is_over, giving_up: Some(giving_up), closed })
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.giving_up = None;
        let _closed = self.closed.recv();
    }
}

fn guidance() -> Vec<String> {
    vec!["The logs are read as they grow.".to_owned(), "Ctrl-C, or q, ends it and prints a report.".to_owned()]
}
