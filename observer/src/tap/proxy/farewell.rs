//! The word that the proxy itself ends, for connections that have outlived its grace.

use std::time::Duration;

use tokio::sync::watch;

/// How long a connection may take to say goodbye once it was told to: a peer that does not read is reset then.
pub(super) const LIMIT: Duration = Duration::from_secs(1);

/// Tells every connection of a listener to end.
#[derive(Debug)]
pub(super) struct FarewellSender(watch::Sender<bool>);

/// Hears it, whenever it was said.
#[derive(Clone, Debug)]
pub(super) struct Farewell(watch::Receiver<bool>);

impl FarewellSender {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub(super) fn hearer(&self) -> Farewell {
        Farewell(self.0.subscribe())
    }

    pub(super) fn say(&self) {
        self.0.send_replace(true);
    }
}

impl Farewell {
    /// Waits until it is said; for ever, if whoever could say it is gone.
    pub(super) async fn said(&mut self) {
        if self.0.wait_for(|said| *said).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
