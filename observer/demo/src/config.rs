//! The configuration of a demo server.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// The behaviour of the demo API server. The default is that of a real one, on a free port.
#[derive(Clone, Debug)]
pub struct DemoConfig {
    /// The address to listen on, which must be a loopback address. Port 0 selects a free port.
    pub address: SocketAddr,
    /// How many seconds of the periods below pass in one second; at least 1. The 3 s for which a read waits for a revision are also
    /// scaled. The `timeoutSeconds` of clients are always real seconds.
    pub speed: u32,
    /// The version in `/version`: `v1.34` with a patch level, since the rules are those of this minor.
    pub version: String,
    /// Time between two bookmarks of a watch.
    pub bookmark_period: Duration,
    /// Time between two compactions. Each drops the history before the previous one.
    pub compaction_interval: Duration,
    /// The minimum time that a resource's events are kept; its snapshots live at least as long.
    pub event_window: Duration,
    /// Time between two progress notifications of the store, which raise the revision of idle caches.
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
