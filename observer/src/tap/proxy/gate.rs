//! Lets connections ask their listener whether upstream accepts connections.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::ListenerState;

/// A connection asks here when it sees a sign that upstream may refuse. The listener then dials upstream, and answers.
#[derive(Debug)]
pub(super) struct Gate {
    asked: AtomicU64,
    wake: Notify,
    answered: watch::Sender<u64>,
    state: watch::Sender<ListenerState>,
}

/// The number of one question. Each asks whether upstream accepts connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question(u64);

/// Maximum time for which an end or a reset is withheld from a client, until it is known whether upstream refuses.
pub(super) const HOLD_BACK: Duration = Duration::from_millis(250);

impl Gate {
    pub(super) fn new() -> Self {
        Self {
            asked: AtomicU64::new(0),
            wake: Notify::new(),
            answered: watch::Sender::new(0),
            state: watch::Sender::new(ListenerState::Listening),
        }
    }

    /// Makes the listener dial upstream at once.
    pub(super) fn ask(&self) -> Question {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.wake.notify_one();
        Question(number)
    }

    /// Waits, for at most [`HOLD_BACK`], until a dial that began after `question` has finished, and the port was opened or closed
    /// accordingly.
    pub(super) async fn answer(&self, question: Question) {
        let mut answered = self.answered.subscribe();
        let known = answered.wait_for(|answered| *answered >= question.0);
        // After the timeout, the client proceeds without an answer.
        timeout(HOLD_BACK, known).await.ok();
    }

    /// The port's state, as the last dial has decided it.
    pub(super) fn state(&self) -> ListenerState {
        *self.state.borrow()
    }

    /// Follows the port's state.
    pub(super) fn states(&self) -> watch::Receiver<ListenerState> {
        self.state.subscribe()
    }

    /// Waits until the port refuses clients.
    pub(super) async fn held(&self) {
        let mut state = self.state.subscribe();
        if state.wait_for(|state| *state == ListenerState::Refusing).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// For the listener: waits for a question that it may not have seen yet.
    pub(super) async fn asked(&self) {
        self.wake.notified().await;
    }

    /// For the listener: the last question so far.
    pub(super) fn last_question(&self) -> Question {
        Question(self.asked.load(Ordering::SeqCst))
    }

    /// For the listener: whether a question is unanswered.
    pub(super) fn is_open(&self) -> bool {
        self.asked.load(Ordering::SeqCst) > *self.answered.borrow()
    }

    /// For the listener: answers all questions up to `question`, and publishes the port's `state`.
    pub(super) fn settle(&self, question: Question, state: ListenerState) {
        self.state.send_if_modified(|present| std::mem::replace(present, state) != state);
        self.answered.send_if_modified(|answered| std::mem::replace(answered, question.0) != question.0);
    }
}
