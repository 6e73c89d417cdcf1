//! The signal to close connections that are still open after the drain timeout.

use std::time::Duration;

use tokio::sync::watch;

/// How long a connection may take to close after the signal. A peer that has not read by then is reset.
pub(super) const LIMIT: Duration = Duration::from_secs(1);

/// Signals all connections of a listener to close.
#[derive(Debug)]
pub(super) struct CloseSender(watch::Sender<bool>);

/// Receives the signal, even if it was sent earlier.
#[derive(Clone, Debug)]
pub(super) struct CloseSignal(watch::Receiver<bool>);

impl CloseSender {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub(super) fn receiver(&self) -> CloseSignal {
        CloseSignal(self.0.subscribe())
    }

    pub(super) fn send(&self) {
        self.0.send_replace(true);
    }
}

impl CloseSignal {
    /// Waits for the signal; waits forever if the sender is gone.
    pub(super) async fn received(&mut self) {
        if self.0.wait_for(|received| *received).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
