//! The state of the certificate, for the server and its probes, and messages about it.

use std::time::SystemTime;

use tokio::sync::watch;

use crate::printable::print_message;

/// The state of the certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) is_ready: bool,
    pub(super) expires: Option<SystemTime>,
    pub(super) problem: Option<String>,
}

/// Where the state is published.
#[derive(Clone, Debug)]
pub(super) struct Report(watch::Sender<State>);

impl Report {
    pub(super) fn new() -> (Self, watch::Receiver<State>) {
        let (sender, receiver) = watch::channel(State::default());
        (Self(sender), receiver)
    }

    /// Publishes that a fault of watchtap has ended the work: nothing renews the certificate, or notices that it is refused.
    pub(super) fn publish_end(&self) {
        let problem = Some("a fault of watchtap ended its renewal; restart the pod".to_owned());
        let expires = self.0.borrow().expires;
        self.publish(State { is_ready: false, expires, problem });
    }

    /// Publishes a state. The beginning and the end of a problem lead to a message.
    pub(super) fn publish(&self, state: State) {
        let before = self.0.borrow().clone();
        if state == before {
            return;
        }
        match (&before.problem, &state.problem) {
            (before, Some(problem)) if before.as_ref() != Some(problem) => {
                print_message(format!("the webhook's certificate: {problem}"));
            }
            (Some(_problem), None) => print_message("the webhook's certificate: the problem is solved"),
            _ => {}
        }
        self.0.send_replace(state);
    }
}
