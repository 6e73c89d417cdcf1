//! Looking for processes beside all else.

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

/// Clients that wait to be looked for; beyond that they stay unknown.
const MAX_WAITING: usize = 1_024;

/// A thread that finds out which processes clients are; it ends with the last clone.
#[derive(Clone, Debug)]
pub struct ProcessFinder {
    questions: SyncSender<Question>,
}

/// What was asked of a [`ProcessFinder`]. Without one it is answered at once: nobody knows.
#[derive(Debug, Default)]
pub struct Inquiry(Option<oneshot::Receiver<Option<Process>>>);

#[derive(Debug)]
struct Question {
    client: SocketAddr,
    listener: SocketAddr,
    answer: oneshot::Sender<Option<Process>>,
}

impl ProcessFinder {
    /// Starts the thread, which asks the kernel.
    #[cfg(target_os = "linux")]
    pub fn start() -> io::Result<Self> {
        let mut processes = ClientProcesses::new();
        Self::asking(move |client, listener| processes.of(client, listener))
    }

    /// Starts the thread, which knows no process: this system has no answer to the question.
    #[cfg(not(target_os = "linux"))]
    pub fn start() -> io::Result<Self> {
        Self::asking(|_client, _listener| None)
    }

    /// Starts the thread, which asks `look_up` for the process that is connected from the first address to the second. It may take its time.
    pub fn asking(look_up: impl FnMut(SocketAddr, SocketAddr) -> Option<Process> + Send + 'static) -> io::Result<Self> {
        let (questions, asked) = sync_channel(MAX_WAITING);
        thread::Builder::new().name("client-process".to_owned()).spawn(move || answer_all(asked, look_up))?;
        Ok(Self { questions })
    }

    /// Asks which process is connected from `client` to `listener`; does not wait.
    pub fn ask(&self, client: SocketAddr, listener: SocketAddr) -> Inquiry {
        let (answer, answered) = oneshot::channel();
        Inquiry(self.questions.try_send(Question { client, listener, answer }).ok().map(|()| answered))
    }
}

impl Inquiry {
    /// The answer; the inquiry itself where there is none yet.
    pub fn answered(mut self) -> Result<Option<Process>, Self> {
        match self.0.as_mut().map(oneshot::Receiver::try_recv) {
            Some(Ok(process)) => Ok(process),
            Some(Err(TryRecvError::Empty)) => Err(self),
            // Nobody is left who could say.
            Some(Err(TryRecvError::Closed)) | None => Ok(None),
        }
    }

    /// The answer, for which it waits so long at most.
    pub async fn answer(self, within: Duration) -> Option<Process> {
        // Too late, or nobody is left who could say.
        timeout(within, self.0?).await.ok()?.ok()?
    }
}

fn answer_all(asked: Receiver<Question>, mut look_up: impl FnMut(SocketAddr, SocketAddr) -> Option<Process>) {
    for Question { client, listener, answer } in asked {
        // Those behind it wait, so that nobody is looked for whose answer came too late.
        if !answer.is_closed() {
            let _unneeded = answer.send(look_up(client, listener));
        }
    }
}
