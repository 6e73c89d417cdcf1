//! The side of the attached process: a connection to a run, by its socket or by the streams of a program that leads there.
//!
//! Nothing here waits without a limit, except for the first answer of a program, which may ask its user to log in.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::geteuid;
use tokio::time::timeout;

use super::inbox::{Inbox, Malformed};
use super::protocol::{About, Answer, Greeting, Input, MOST_TO_TERMINAL, PROTOCOL, ReportForm, Request, push_line};
use super::socket::check_length;

/// Time limit for the answer of a run on this machine.
const ANSWER: Duration = Duration::from_secs(20);

/// Time limit for the answer to a question about the run, of which several may be asked.
const SHORT: Duration = Duration::from_secs(2);

/// Maximum number of bytes of input that wait for a run that does not read. Further keys are dropped.
const MOST_WAITING: usize = 16 << 10;

/// Size of a read, in bytes.
const READ: usize = 16 << 10;

/// Maximum size of a report in bytes.
const LARGEST_REPORT: usize = 256 << 20;

/// A connection to a run.
#[derive(Debug)]
pub(crate) struct Link {
    input: OwnedFd,
    output: OwnedFd,
    inbox: Inbox,
    outbox: BytesMut,
}

/// Why a run does not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    /// No run listens there.
    #[error("no run can be reached at {}", path.display())]
    Unreachable {
        /// The path of the socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Something else is there.
    #[error("{} is no socket", path.display())]
    NoSocket {
        /// The path of the file or folder.
        path: PathBuf,
    },
    /// The path is too long.
    #[error("{0}")]
    Path(anyhow::Error),
    /// A process of another user listens there.
    #[error("the process that listens at {} belongs to another user (uid {uid}), and not to the run of yours", path.display())]
    Stranger {
        /// The path of the socket.
        path: PathBuf,
        /// The uid of that user.
        uid: u32,
    },
    /// It is stopped, or busy.
    #[error("the run does not answer: it may be suspended (ctrl-z) or busy")]
    Silent,
    /// It has another version of the protocol.
    #[error(
        "this watchtap ({}) speaks version {PROTOCOL} of the attach protocol, and the run ({}) version {}: use the same watchtap for both",
        env!("CARGO_PKG_VERSION"), .0.version, .0.watchtap_attach
    )]
    OtherVersion(Greeting),
    /// It refuses, for this reason.
    #[error("{0}")]
    Refused(String),
    /// It sends something else than a run does.
    #[error("the answer is not of a watchtap: {0}")]
    Malformed(#[from] Malformed),
    /// The report is too large.
    #[error("the report is larger than {} MiB", LARGEST_REPORT >> 20)]
    Large,
    /// It ended without notice, or the connection broke.
    #[error("the connection ended: the run was killed, or the way to it broke")]
    Gone,
    /// The system's error.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl LinkError {
    fn unconnected(path: &Path, source: io::Error) -> Self {
        let (path, kind) = (path.to_owned(), source.kind());
        // The queue of a run that accepts no connection is full (connect(2)).
        if kind == io::ErrorKind::WouldBlock {
            return Self::Silent;
        }
        if kind == io::ErrorKind::ConnectionRefused && path.metadata().is_ok_and(|there| !there.file_type().is_socket()) {
            return Self::NoSocket { path };
        }
        Self::Unreachable { path, source }
    }
}

impl Link {
    /// Connects to a socket.
    pub(crate) fn connect(path: &Path) -> Result<Self, LinkError> {
        let stream = Self::connect_plainly(path)?;
        let output = stream.try_clone()?;
        Ok(Self::over(stream.into(), output.into())?)
    }

    /// Connects to a socket, and checks whose process listens there.
    pub(super) fn connect_plainly(path: &Path) -> Result<UnixStream, LinkError> {
        check_length(path).map_err(LinkError::Path)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stream, uid) = runtime.block_on(async {
            let connected = timeout(SHORT, tokio::net::UnixStream::connect(path)).await.map_err(|_elapsed| LinkError::Silent)?;
            let stream = connected.map_err(|error| LinkError::unconnected(path, error))?;
            let uid = stream.peer_cred()?.uid();
            Ok::<_, LinkError>((stream.into_std()?, uid))
        })?;
        if !is_trusted(uid, geteuid().as_raw()) {
            return Err(LinkError::Stranger { path: path.to_owned(), uid });
        }
        stream.set_nonblocking(false)?;
        Ok(stream)
    }

    /// Uses two streams: `input` leads from the run, `output` to it.
    pub(super) fn over(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        for stream in [&input, &output] {
            fcntl_setfl(stream, fcntl_getfl(stream)? | OFlags::NONBLOCK)?;
        }
        Ok(Self { input, output, inbox: Inbox::new(MOST_TO_TERMINAL), outbox: BytesMut::new() })
    }

    /// Facts about the run at a socket.
    pub(super) fn about(path: &Path) -> Result<About, LinkError> {
        let mut link = Self::connect(path)?;
        link.ask(&Request::About, Some(SHORT))?;
        let answer = link.wait_for(Some(SHORT))?;
        if let Answer::About(about) = answer { Ok(about) } else { Err(instead(answer)) }
    }

    /// The report of the run so far. It has not passed the gate.
    pub(crate) fn report(mut self, form: ReportForm, limit: Option<Duration>) -> Result<String, LinkError> {
        self.ask(&Request::Report(form), limit)?;
        let mut report = String::new();
        loop {
            match self.wait_for(Some(ANSWER))? {
                Answer::Part(part) if report.len() + part.len() <= LARGEST_REPORT => report.push_str(&part),
                Answer::Part(_) => return Err(LinkError::Large),
                Answer::Complete => return Ok(report),
                other @ (Answer::About(_)
                | Answer::Picture(_)
                | Answer::Copy(_)
                | Answer::Note { .. }
                | Answer::Left
                | Answer::Ended
                | Answer::Refused(_)) => return Err(instead(other)),
            }
        }
    }

    /// Sends the greeting and a request, and waits for the greeting of the run.
    pub(super) fn ask(&mut self, request: &Request, limit: Option<Duration>) -> Result<(), LinkError> {
        push_line(&Greeting::own(), &mut self.outbox);
        push_line(request, &mut self.outbox);
        let greeting: Greeting = self.wait_for(limit)?;
        if greeting.watchtap_attach == PROTOCOL { Ok(()) } else { Err(LinkError::OtherVersion(greeting)) }
    }

    pub(super) fn wait_for<T: serde::de::DeserializeOwned>(&mut self, limit: Option<Duration>) -> Result<T, LinkError> {
        let until = limit.map(|limit| Instant::now() + limit);
        loop {
            if let Some(message) = self.next()? {
                return Ok(message);
            }
            let rest = until.map(|until| until.saturating_duration_since(Instant::now()));
            if rest == Some(Duration::ZERO) {
                return Err(LinkError::Silent);
            }
            self.wait(rest)?;
        }
    }

    /// Waits until something arrives, or can be sent.
    fn wait(&self, limit: Option<Duration>) -> io::Result<()> {
        let mut streams = vec![PollFd::new(&self.input, PollFlags::IN)];
        if !self.outbox.is_empty() {
            streams.push(PollFd::new(&self.output, PollFlags::OUT));
        }
        let limit = limit.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut streams, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The next message, if it has arrived. Does not wait.
    pub(super) fn next<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>, LinkError> {
        self.flush();
        loop {
            if let Some(message) = self.inbox.next()? {
                return Ok(Some(message));
            }
            let mut arrived = [0; READ];
            match rustix::io::read(&self.input, &mut arrived) {
                Ok(0) | Err(Errno::CONNRESET) => return Err(LinkError::Gone),
                Ok(read) => self.inbox.space().extend_from_slice(arrived.get(..read).unwrap_or_default()),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
    }

    /// Sends an input, or keeps it until it can be sent. If too much waits, the run does not read, and the input is dropped.
    pub(super) fn send(&mut self, input: &Input) {
        if self.outbox.len() < MOST_WAITING {
            push_line(input, &mut self.outbox);
        }
        self.flush();
    }

    /// Writes what can be written now. If the other side is gone, reading reports that, after its last message.
    fn flush(&mut self) {
        while !self.outbox.is_empty() {
            match rustix::io::write(&self.output, &self.outbox) {
                Ok(written) => drop(self.outbox.split_to(written)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_gone) => self.outbox.clear(),
            }
        }
    }

    /// A descriptor that is readable when a message arrives.
    pub(super) fn readable(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }
}

/// Whether a process of the user `ours` trusts a run of the user `uid`. Root looks into runs of others.
const fn is_trusted(uid: u32, ours: u32) -> bool {
    uid == ours || uid == 0 || ours == 0
}

/// The meaning of a message that is no answer to the request.
pub(super) fn instead(answer: Answer) -> LinkError {
    match answer {
        Answer::Refused(why) => LinkError::Refused(why),
        Answer::Ended => LinkError::Gone,
        Answer::About(_)
        | Answer::Part(_)
        | Answer::Complete
        | Answer::Picture(_)
        | Answer::Copy(_)
        | Answer::Note { .. }
        | Answer::Left => LinkError::Malformed(Malformed::Unexpected),
    }
}
