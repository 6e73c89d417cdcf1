//! Looking for processes beside all else.

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use observer_core::observation::Process;
use tokio::sync::oneshot;
use tokio::time::timeout;

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
    /// Starts the thread.
    pub fn start() -> io::Result<Self> {
        let (questions, asked) = sync_channel(MAX_WAITING);
        thread::Builder::new().name("client-process".to_owned()).spawn(move || answer_all(asked))?;
        Ok(Self { questions })
    }

    /// Asks which process is connected from `client` to `listener`; does not wait.
    pub fn ask(&self, client: SocketAddr, listener: SocketAddr) -> Inquiry {
        let (answer, answered) = oneshot::channel();
        Inquiry(self.questions.try_send(Question { client, listener, answer }).ok().map(|()| answered))
    }
}

impl Inquiry {
    /// The answer, for which it waits so long at most.
    pub async fn answer(self, within: Duration) -> Option<Process> {
        // Too late, or nobody is left who could say.
        timeout(within, self.0?).await.ok()?.ok()?
    }
}

fn answer_all(asked: Receiver<Question>) {
    let mut processes = ClientProcesses::new();
    for Question { client, listener, answer } in asked {
        // Who has left does not need it any more.
        let _unneeded = answer.send(processes.of(client, listener));
    }
}
