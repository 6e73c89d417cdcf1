//! A thread that looks up the processes of clients.

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use observer_core::observation::Process;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::time::timeout;

#[cfg(target_os = "linux")]
use super::lookup::ClientProcesses;

/// Maximum number of pending lookups. Clients of further lookups stay unknown.
const MAX_WAITING: usize = 1_024;

/// A thread that finds the processes of clients. It ends when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct ProcessFinder {
    questions: SyncSender<Question>,
}

/// A pending lookup of a [`ProcessFinder`]. The default value belongs to no finder, and its answer is always `None`.
#[derive(Debug, Default)]
pub struct Inquiry(Option<oneshot::Receiver<Option<Process>>>);

#[derive(Debug)]
struct Question {
    client: SocketAddr,
    listener: SocketAddr,
    answer: oneshot::Sender<Option<Process>>,
}

impl ProcessFinder {
    /// Starts the thread, which looks processes up in the kernel; see the module documentation.
    #[cfg(target_os = "linux")]
    pub fn start() -> io::Result<Self> {
        let mut processes = ClientProcesses::new();
        Self::asking(move |client, listener| processes.of(client, listener))
    }

    /// Starts the thread on a system without such lookups: every process is unknown.
    #[cfg(not(target_os = "linux"))]
    pub fn start() -> io::Result<Self> {
        Self::asking(|_client, _listener| None)
    }

    /// Starts the thread with `look_up`, which gets the client's and the listener's address. It may block.
    pub fn asking(look_up: impl FnMut(SocketAddr, SocketAddr) -> Option<Process> + Send + 'static) -> io::Result<Self> {
        let (questions, asked) = sync_channel(MAX_WAITING);
        thread::Builder::new().name("client-process".to_owned()).spawn(move || answer_all(asked, look_up))?;
        Ok(Self { questions })
    }

    /// Begins the lookup of the process that is connected from `client` to `listener`. Does not block.
    pub fn ask(&self, client: SocketAddr, listener: SocketAddr) -> Inquiry {
        let (answer, answered) = oneshot::channel();
        Inquiry(self.questions.try_send(Question { client, listener, answer }).ok().map(|()| answered))
    }
}

impl Inquiry {
    /// Returns the answer, or the inquiry itself if there is no answer yet.
    pub fn answered(mut self) -> Result<Option<Process>, Self> {
        match self.0.as_mut().map(oneshot::Receiver::try_recv) {
            Some(Ok(process)) => Ok(process),
            Some(Err(TryRecvError::Empty)) => Err(self),
            // The thread is gone.
            Some(Err(TryRecvError::Closed)) | None => Ok(None),
        }
    }

    /// Waits for the answer, for at most `within`.
    pub async fn answer(self, within: Duration) -> Option<Process> {
        // The time ran out, or the thread is gone.
        timeout(within, self.0?).await.ok()?.ok()?
    }
}

fn answer_all(asked: Receiver<Question>, mut look_up: impl FnMut(SocketAddr, SocketAddr) -> Option<Process>) {
    for Question { client, listener, answer } in asked {
        // Skips inquiries whose caller has given up, since others are queued.
        if !answer.is_closed() {
            let _unneeded = answer.send(look_up(client, listener));
        }
    }
}
