//! What a demo server may be told.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// How the demo API server behaves; the default is a real one's behaviour on a free port.
#[derive(Clone, Debug)]
pub struct DemoConfig {
    /// Where to listen; a loopback address, anything else is refused. Port 0 is a free one.
    pub address: SocketAddr,
    /// How many seconds of the periods below, and of the 3 s for which a read waits for a revision, pass in one second; at least 1. The
    /// `timeoutSeconds` of clients are real seconds whatever this is.
    pub speed: u32,
    /// What `/version` reports, `v1.34` with a patch level: the rules are those of this minor.
    pub version: String,
    /// Time between two bookmarks of a watch.
    pub bookmark_period: Duration,
    /// Time between two compactions; each forgets what was older than the one before.
    pub compaction_interval: Duration,
    /// How long a resource's events are kept in any case; its snapshots live at least as long.
    pub event_window: Duration,
    /// Time between two progress notifications of the store, which move the revision of caches on which nothing happens.
    pub progress_interval: Duration,
}

impl Default for DemoConfig {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            speed: 1,
            version: "v1.34.4".to_owned(),
            bookmark_period: Duration::from_mins(1),
            compaction_interval: Duration::from_mins(5),
            event_window: Duration::from_secs(75),
            progress_interval: Duration::from_mins(10),
        }
    }
}
