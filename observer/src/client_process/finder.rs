//! Looking for processes beside all else.

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use observer_core::observation::Process;

use super::lookup::ClientProcesses;

/// Clients that wait to be looked for; beyond that they stay unknown.
const MAX_WAITING: usize = 1_024;

/// A thread that finds out which processes clients are; it ends with the last clone.
#[derive(Clone, Debug)]
pub struct ProcessFinder {
    questions: SyncSender<Question>,
}

/// What was asked of a [`ProcessFinder`]. Without one it is answered at once: nobody knows.
#[derive(Clone, Debug, Default)]
pub struct Inquiry(Option<Arc<Slot>>);

#[derive(Debug)]
struct Question {
    client: SocketAddr,
    listener: SocketAddr,
    slot: Arc<Slot>,
}

/// Where the answer will be.
#[derive(Debug, Default)]
struct Slot {
    answer: Mutex<Answer>,
    answered: Condvar,
}

#[derive(Debug, Default)]
enum Answer {
    #[default]
    Awaited,
    Unknown,
    Found(Process),
}

impl ProcessFinder {
    /// Starts the thread.
    pub fn start() -> io::Result<Self> {
        let (questions, asked) = sync_channel(MAX_WAITING);
        thread::Builder::new().name("client-process".to_owned()).spawn(move || answer_all(&asked))?;
        Ok(Self { questions })
    }

    /// Asks which process is connected from `client` to `listener`; does not wait.
    pub fn ask(&self, client: SocketAddr, listener: SocketAddr) -> Inquiry {
        let slot = Arc::new(Slot::default());
        let question = Question { client, listener, slot: Arc::clone(&slot) };
        Inquiry(self.questions.try_send(question).ok().map(|()| slot))
    }
}

impl Inquiry {
    /// The answer, for which it waits so long at most.
    pub fn answer(&self, within: Duration) -> Option<Process> {
        let slot = self.0.as_ref()?;
        let answer = slot.answer.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = slot.answered.wait_timeout_while(answer, within, |answer| matches!(answer, Answer::Awaited));
        match &*waited.unwrap_or_else(PoisonError::into_inner).0 {
            Answer::Found(process) => Some(process.clone()),
            Answer::Awaited | Answer::Unknown => None,
        }
    }
}

/// The same question, not one that is put in the same words.
impl PartialEq for Inquiry {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl Eq for Inquiry {}

/// A question that is dropped unanswered is answered: nobody knows.
impl Drop for Question {
    fn drop(&mut self) {
        let mut answer = self.slot.answer.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*answer, Answer::Awaited) {
            *answer = Answer::Unknown;
        }
        drop(answer);
        self.slot.answered.notify_all();
    }
}

fn answer_all(asked: &Receiver<Question>) {
    let mut processes = ClientProcesses::new();
    for question in asked {
        let found = processes.of(question.client, question.listener);
        *question.slot.answer.lock().unwrap_or_else(PoisonError::into_inner) = found.map_or(Answer::Unknown, Answer::Found);
    }
}
