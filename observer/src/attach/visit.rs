//! One attached process, from its greeting to its end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use jiff::Timestamp;
use rustix::process::geteuid;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::inbox::Inbox;
use super::protocol::{Answer, Greeting, Input, MOST_TO_RUN, PROTOCOL, ReportForm, Request, Terminal, push_line};
use super::run_report::ServedRun;
use super::served_page::{Panicked, ServedPage};
use crate::pipeline::{SnapshotSource, Snapshots};
use crate::printable::Messages;

/// Maximum number of pages at a time. Each has the memory of a picture, and of a snapshot while it is paused.
pub(super) const MOST_PAGES: usize = 8;

/// Time limit for the greeting and the request.
const GREETING: Duration = Duration::from_secs(5);

/// Time limit for a snapshot. The observing thread may be busy with a long list, or wait for the version of the API server.
const SNAPSHOT: Duration = Duration::from_secs(15);

/// Time limit for sending a part of the report, and the last message.
const SENDING: Duration = Duration::from_secs(10);

/// Size of a part of the report, in bytes.
const PART: usize = 64 << 10;

/// Maximum number of bytes that wait for a terminal, apart from one message. Beyond it, no more keys are read.
const MOST_WAITING: usize = 64 << 10;

/// Why there is no report at the end of a run.
const ENDS: &str = "the run ends, and writes its own report";

/// Why there are no more snapshots although the run has not ended. Its traffic continues after a failure.
const OBSERVING_IS_OVER: &str =
    "the run observes no more: either it is about to end, or observing failed, which the run has printed";

/// A terminal that has not drawn its picture for so long counts as stopped. No snapshot is made for it.
const STOPPED: Duration = Duration::from_secs(2);

/// The data that all visits share.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) run: ServedRun,
    pub(super) snapshots: SnapshotSource,
    pub(super) since: Timestamp,
    pub(super) pages: Semaphore,
}

/// An attached process.
pub(super) struct Visit {
    host: Arc<Host>,
    stream: UnixStream,
    inbox: Inbox,
    /// Becomes true when the run has ended.
    ended: watch::Receiver<bool>,
}

impl Visit {
    pub(super) fn new(host: Arc<Host>, stream: UnixStream, ended: watch::Receiver<bool>) -> Self {
        Self { host, stream, inbox: Inbox::new(MOST_TO_RUN), ended }
    }

    /// Serves the process to its end. An error means that it has left, or sends no messages of ours.
    pub(super) async fn serve(mut self) -> io::Result<()> {
        self.send(&Greeting::own()).await?;
        let uid = self.stream.peer_cred()?.uid();
        if !is_admitted(uid, geteuid().as_raw()) {
            return self
                .send(&Answer::Refused(format!("this run belongs to another user, and refuses processes of uid {uid}")))
                .await;
        }
        let Ok(asked) = timeout(GREETING, self.request()).await else { return Ok(()) };
        match asked? {
            // The other side has our greeting, and reports that the versions differ.
            None => Ok(()),
            Some(Request::About) => self.send(&Answer::About(self.host.run.about(self.host.since))).await,
            Some(Request::Report(form)) => self.report(form).await,
            Some(Request::Page(terminal)) => self.page(&terminal).await,
        }
    }

    /// The request; `None` if the other side has another protocol.
    async fn request(&mut self) -> io::Result<Option<Request>> {
        let greeting: Greeting = self.receive().await?;
        if greeting.watchtap_attach != PROTOCOL {
            return Ok(None);
        }
        self.receive().await.map(Some)
    }

    async fn receive<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        loop {
            if let Some(message) = self.inbox.next().map_err(io::Error::other)? {
                return Ok(message);
            }
            if self.stream.read_buf(self.inbox.space()).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    async fn send(&mut self, message: &impl serde::Serialize) -> io::Result<()> {
        let mut line = BytesMut::new();
        push_line(message, &mut line);
        timeout(SENDING, self.stream.write_all(&line)).await?
    }

    async fn report(&mut self, form: ReportForm) -> io::Result<()> {
        let mut snapshots = self.host.snapshots.subscribe();
        let Ok(snapshot) = timeout(SNAPSHOT, snapshots.next()).await else {
            return self.send(&Answer::Refused("the run is busy; try again".to_owned())).await;
        };
        let Some(snapshot) = snapshot else {
            let why = if *self.ended.borrow() { ENDS } else { OBSERVING_IS_OVER };
            return self.send(&Answer::Refused(why.to_owned())).await;
        };
        drop(snapshots);
        let report = match self.host.run.report(form, &snapshot) {
            Ok(report) => report.into_string(),
            Err(why) => return self.send(&Answer::Refused(why.to_owned())).await,
        };
        drop(snapshot);
        let mut rest = report.as_str();
        while !rest.is_empty() {
            let (part, further) = rest.split_at(rest.floor_char_boundary(PART));
            self.send(&Answer::Part(part.to_owned())).await?;
            rest = further;
        }
        self.send(&Answer::Complete).await
    }

    async fn page(&mut self, terminal: &Terminal) -> io::Result<()> {
        let host = Arc::clone(&self.host);
        let Ok(_permit) = host.pages.try_acquire() else {
            let why = format!("{MOST_PAGES} pages are attached to this run already; leave one of them");
            return self.send(&Answer::Refused(why)).await;
        };
        let page = ServedPage::new(host.run.page(terminal), terminal.size);
        let mut seat = Seat::take(page, &host.snapshots);
        let last = match seat.serve(&mut self.stream, &mut self.inbox, &mut self.ended).await? {
            SeatEnd::Left => Answer::Left,
            SeatEnd::RunEnded => Answer::Ended,
            SeatEnd::Panicked => Answer::Refused("the page failed because of an internal error; please report it".to_owned()),
        };
        // A part of the last message may have been sent already.
        let mut rest = seat.outbox;
        push_line(&last, &mut rest);
        timeout(SENDING, self.stream.write_all(&rest)).await?
    }
}

/// Whether a run of the user `ours` admits a process of the user `uid`. Root can read the memory of the run anyway.
const fn is_admitted(uid: u32, ours: u32) -> bool {
    uid == ours || uid == 0
}

/// A page, and the sources of its news.
struct Seat<'h> {
    page: ServedPage,
    source: &'h SnapshotSource,
    /// `None` while the terminal counts as stopped, and when there are no more snapshots.
    snapshots: Option<Snapshots>,
    are_snapshots_over: bool,
    messages: Messages,
    /// Bytes for the terminal.
    outbox: BytesMut,
    /// When a terminal that has not drawn its picture counts as stopped.
    stopped_at: Instant,
}

/// Why a page ended.
enum SeatEnd {
    Left,
    RunEnded,
    Panicked,
}

impl From<Panicked> for SeatEnd {
    fn from(_: Panicked) -> Self {
        Self::Panicked
    }
}

impl<'h> Seat<'h> {
    fn take(page: ServedPage, source: &'h SnapshotSource) -> Self {
        Self {
            page,
            source,
            snapshots: Some(source.subscribe()),
            are_snapshots_over: false,
            messages: Messages::subscribe(),
            outbox: BytesMut::new(),
            stopped_at: Instant::now(),
        }
    }

    /// Shows the page until one side ends it. Nothing is sent after a picture until the terminal has drawn it, except the answer to a
    /// key.
    async fn serve(
        &mut self,
        stream: &mut UnixStream,
        inbox: &mut Inbox,
        ended: &mut watch::Receiver<bool>,
    ) -> io::Result<SeatEnd> {
        let (mut read, mut write) = stream.split();
        loop {
            if let Err(end) = self.take_inputs(inbox)?.and_then(|()| self.send_picture()) {
                return Ok(end);
            }
            let shown = tokio::select! {
                () = has_ended(ended) => return Ok(SeatEnd::RunEnded),
                read = read.read_buf(inbox.space()), if self.outbox.len() < MOST_WAITING => match read? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    _bytes => Ok(()),
                },
                written = write.write_buf(&mut self.outbox), if !self.outbox.is_empty() => written.map(|_bytes| Ok(()))?,
                snapshot = next_of(&mut self.snapshots) => if let Some(snapshot) = snapshot {
                    self.page.show(snapshot)
                } else {
                    (self.snapshots, self.are_snapshots_over) = (None, true);
                    self.page.hear(OBSERVING_IS_OVER)
                },
                line = self.messages.next() => self.page.hear(&line),
                () = sleep_until(self.stopped_at), if self.snapshots.is_some() && !self.page.is_drawn() => {
                    self.snapshots = None;
                    Ok(())
                }
            };
            if let Err(panicked) = shown {
                return Ok(panicked.into());
            }
        }
    }

    fn send_picture(&mut self) -> Result<(), SeatEnd> {
        if let Some(picture) = self.page.picture()? {
            push_line(&Answer::Picture(picture), &mut self.outbox);
            self.stopped_at = Instant::now() + STOPPED;
        }
        Ok(())
    }

    /// Takes the messages that have arrived completely, while there is room for answers.
    fn take_inputs(&mut self, inbox: &mut Inbox) -> io::Result<Result<(), SeatEnd>> {
        while self.outbox.len() < MOST_WAITING
            && let Some(input) = inbox.next::<Input>().map_err(io::Error::other)?
        {
            match self.page.input(input) {
                Ok(None) => {}
                Ok(Some(Answer::Left)) => return Ok(Err(SeatEnd::Left)),
                Ok(Some(answer)) => push_line(&answer, &mut self.outbox),
                Err(panicked) => return Ok(Err(panicked.into())),
            }
        }
        if self.page.is_drawn() && self.snapshots.is_none() && !self.are_snapshots_over {
            self.snapshots = Some(self.source.subscribe());
        }
        Ok(Ok(()))
    }
}

async fn has_ended(ended: &mut watch::Receiver<bool>) {
    // If the sender is gone, the server is, too.
    let _ended = ended.wait_for(|ended| *ended).await;
}

/// The next snapshot; waits forever without a reader.
async fn next_of(snapshots: &mut Option<Snapshots>) -> Option<Arc<observer_core::observer::Snapshot>> {
    match snapshots {
        Some(snapshots) => snapshots.next().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_user_and_root_are_admitted() {
        let admitted = [(1000, 1000), (0, 1000), (1001, 1000), (1000, 0), (0, 0)].map(|(uid, ours)| is_admitted(uid, ours));
        assert_eq!(admitted, [true, true, false, false, true]);
    }
}
