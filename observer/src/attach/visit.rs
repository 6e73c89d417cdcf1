//! One attached process, from its greeting to its end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use humantime::format_duration;
use jiff::Timestamp;
use rustix::process::geteuid;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::inbox::Inbox;
use super::protocol::{Answer, Greeting, Input, MOST_TO_RUN, PROTOCOL, ReportForm, Request, Terminal, push_line};
use super::run_report::ServedRun;
use super::served_page::{Panicked, ServedPage};
use super::slots::{Slot, Slots};
use crate::memory_budget::AttachedPages;
use crate::pipeline::{SnapshotSource, Snapshots};
use crate::printable::Messages;

/// Maximum number of pages at a time. Each has the memory of a picture, and of a snapshot while it is paused.
pub(super) const MOST_PAGES: usize = AttachedPages::MOST.number;

/// Maximum number of attached processes, with those that list runs or get a report. Others wait in the kernel's queue. A process takes
/// little memory before it has a slot, so a lower number of pages does not reduce this one.
pub(super) const MOST_VISITS: usize = 2 * MOST_PAGES;

/// Time limit for the greeting and the request.
const GREETING: Duration = Duration::from_secs(5);

/// Maximum number of reports at a time. Each has its complete text in memory.
const MOST_REPORTS: usize = 1;

/// Time limit for a snapshot. The observing thread may be busy with a long list, or wait for the version of the API server. The limit
/// of an attached process ([`super::link`]) is longer.
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
    run: ServedRun,
    snapshots: SnapshotSource,
    since: Timestamp,
    most: AttachedPages,
    pages: Slots,
    reports: Slots,
    patience: Patience,
}

/// How long a run waits for a process that takes nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// A page that is not drawn for so long loses its slot to the next one.
    pub(super) page: Duration,
    /// A report that is sent for so long loses its slot to the next one.
    pub(super) report: Duration,
    /// A page that has not changed for so long is sent again, without a cell. So a process that was lost is noticed while there is no
    /// news.
    pub(super) silence: Duration,
}

impl Patience {
    /// A user may suspend a page for some minutes.
    pub(super) const USUAL: Self =
        Self { page: Duration::from_mins(10), report: Duration::from_mins(1), silence: Duration::from_mins(1) };
}

impl Host {
    /// Nothing is attached yet.
    pub(super) fn new(run: ServedRun, snapshots: SnapshotSource, patience: Patience) -> Self {
        let pages = Slots::new(MOST_PAGES, patience.page);
        let reports = Slots::new(MOST_REPORTS, patience.report);
        Self { run, snapshots, since: Timestamp::now(), most: AttachedPages::MOST, pages, reports, patience }
    }

    /// With these bounds for pages.
    pub(super) fn within(self, most: AttachedPages) -> Self {
        Self { most, pages: Slots::new(most.number, self.patience.page), ..self }
    }
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
            return self.refuse(&format!("this run belongs to another user, and refuses processes of uid {uid}")).await;
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
        timeout(SENDING, write(&mut self.stream, &mut line)).await?
    }

    async fn report(&mut self, form: ReportForm) -> io::Result<()> {
        let host = Arc::clone(&self.host);
        let limit = Instant::now() + SNAPSHOT;
        // The snapshot is made while this waits for the end of another report.
        let mut snapshots = host.snapshots.subscribe();
        let Some(slot) = host.reports.wait(limit).await else {
            return self.refuse("another report of this run is being sent, through a slow connection; try again").await;
        };
        let Ok(snapshot) = timeout_at(limit, snapshots.next()).await else {
            return self.refuse("the run is busy; try again").await;
        };
        let Some(snapshot) = snapshot else {
            return self.refuse(if *self.ended.borrow() { ENDS } else { OBSERVING_IS_OVER }).await;
        };
        drop(snapshots);
        let report = match host.run.report(form, &snapshot) {
            Ok(report) => report.into_string(),
            Err(why) => return self.refuse(why).await,
        };
        drop(snapshot);
        let mut outbox = BytesMut::new();
        let is_complete = self.send_parts(&report, &slot, &mut outbox).await?;
        // A process that reads slowly may let the last message wait.
        drop(report);
        let last = if is_complete {
            Answer::Complete
        } else {
            let patience = format_duration(host.patience.report);
            Answer::Refused(format!("sending the report took over {patience}, and another process asked for one; try again"))
        };
        push_line(&last, &mut outbox);
        timeout(SENDING, write(&mut self.stream, &mut outbox)).await?
    }

    /// Sends a report. Returns whether it is complete; if not, another process has the slot.
    async fn send_parts(&mut self, report: &str, slot: &Slot<'_>, outbox: &mut BytesMut) -> io::Result<bool> {
        slot.note_sent(Instant::now());
        let mut rest = report;
        while !rest.is_empty() {
            let (part, further) = rest.split_at(rest.floor_char_boundary(PART));
            push_line(&Answer::Part(part.to_owned()), outbox);
            tokio::select! {
                sent = timeout(SENDING, write(&mut self.stream, outbox)) => sent??,
                () = slot.lost() => return Ok(false),
            }
            rest = further;
        }
        Ok(true)
    }

    async fn page(&mut self, terminal: &Terminal) -> io::Result<()> {
        let host = Arc::clone(&self.host);
        let patience = format_duration(host.patience.page);
        let Some(slot) = host.pages.take(Instant::now()) else {
            let number = host.most.number;
            let pages = if number == 1 { "one page is".to_owned() } else { format!("{number} pages are") };
            let why = format!(
                "{pages} attached to this run already: leave one of them, or try again when one has not been drawn for {patience}"
            );
            return self.refuse(&why).await;
        };
        let (end, mut rest) = {
            let page = ServedPage::new(host.run.page(terminal), terminal.size, host.most.largest());
            let mut seat = Seat::take(page, &host, slot);
            (seat.serve(&mut self.stream, &mut self.inbox, &mut self.ended).await?, seat.outbox)
        };
        let last = match end {
            SeatEnd::Left => Answer::Left,
            SeatEnd::RunEnded => Answer::Ended,
            SeatEnd::Panicked => Answer::Refused("the page failed because of an internal error; please report it".to_owned()),
            SeatEnd::Lost => Answer::Refused(format!(
                "this page was not drawn for {patience}, and another process needed its place; attach again"
            )),
        };
        // A part of the last message may have been sent already.
        push_line(&last, &mut rest);
        timeout(SENDING, write(&mut self.stream, &mut rest)).await?
    }

    async fn refuse(&mut self, why: &str) -> io::Result<()> {
        self.send(&Answer::Refused(why.to_owned())).await
    }
}

/// Writes all bytes. If it is cancelled, `bytes` has the rest.
async fn write(stream: &mut UnixStream, bytes: &mut BytesMut) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.write_buf(bytes).await?;
    }
    Ok(())
}

/// Whether a run of the user `ours` admits a process of the user `uid`. Root can read the memory of the run anyway.
const fn is_admitted(uid: u32, ours: u32) -> bool {
    uid == ours || uid == 0
}

/// A page, and the sources of its news.
struct Seat<'h> {
    page: ServedPage,
    host: &'h Host,
    slot: Slot<'h>,
    /// `None` while the terminal counts as stopped, and when there are no more snapshots.
    snapshots: Option<Snapshots>,
    are_snapshots_over: bool,
    messages: Messages,
    /// Bytes for the terminal.
    outbox: BytesMut,
    /// When a terminal that has not drawn its picture counts as stopped.
    stopped_at: Instant,
    /// When the page is sent again although it has not changed.
    silent_until: Instant,
}

/// Why a page ended.
enum SeatEnd {
    Left,
    RunEnded,
    Panicked,
    /// Another process has its slot.
    Lost,
}

impl From<Panicked> for SeatEnd {
    fn from(_: Panicked) -> Self {
        Self::Panicked
    }
}

impl<'h> Seat<'h> {
    fn take(page: ServedPage, host: &'h Host, slot: Slot<'h>) -> Self {
        let now = Instant::now();
        Self {
            page,
            host,
            slot,
            snapshots: Some(host.snapshots.subscribe()),
            are_snapshots_over: false,
            messages: Messages::subscribe(),
            outbox: BytesMut::new(),
            stopped_at: now,
            silent_until: now,
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
                () = self.slot.lost() => return Ok(SeatEnd::Lost),
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
                () = sleep_until(self.silent_until), if self.page.is_drawn() => {
                    self.page.refresh();
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
            let now = Instant::now();
            self.slot.note_sent(now);
            (self.stopped_at, self.silent_until) = (now + STOPPED, now + self.host.patience.silence);
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
        if self.page.is_drawn() {
            self.slot.note_taken();
            if self.snapshots.is_none() && !self.are_snapshots_over {
                self.snapshots = Some(self.host.snapshots.subscribe());
            }
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
