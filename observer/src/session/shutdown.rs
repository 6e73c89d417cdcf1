//! How the listeners of a run shut down.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::ends::SETTLING;
use crate::tap::proxy::ProxyHandle;

/// How the listeners of a run shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shutdown {
    /// They accept no more clients, and wait for open connections, for at most this long.
    Drain(Duration),
    /// All of them accept clients for as long as any client of the run is connected, but at most for this long. A client may need
    /// another connection to complete its own shutdown, and so may the client of another listener.
    WhenIdle(Duration),
}

impl Shutdown {
    /// Waits as long as the listeners are to accept clients. Returns how long open connections may then last.
    pub(super) async fn begun(self, listeners: &[ProxyHandle]) -> Duration {
        match self {
            Self::Drain(grace) => grace,
            Self::WhenIdle(limit) => {
                timeout(limit, all_idle(listeners)).await.ok();
                Duration::ZERO
            }
        }
    }
}

/// Waits until no client has been connected to any listener for [`SETTLING`]. Within that time, a client that uses a connection for
/// one request only opens the next.
async fn all_idle(listeners: &[ProxyHandle]) {
    let accepted = || listeners.iter().map(|listener| listener.counts().accepted).sum::<u64>();
    loop {
        let before = accepted();
        for listener in listeners {
            listener.idle().await;
        }
        sleep(SETTLING).await;
        // Otherwise, a client came while another listener was waited for.
        if accepted() == before {
            return;
        }
    }
}
