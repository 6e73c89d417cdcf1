//! The configuration of a demo server.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// The settings of the demo API server. The default has the periods of a real server, and a free port.
#[derive(Clone, Debug)]
pub struct DemoConfig {
    /// The address to listen on, which must be a loopback address. Port 0 selects a free port.
    pub address: SocketAddr,
    /// The factor by which the demo's time is faster than real time; at least 1. It applies to the periods below, and to the 3 s
    /// for which a read waits for a revision. The `timeoutSeconds` of clients are always real seconds.
    pub speed: u32,
    /// The version in `/version`: `v1.34` with a patch version, since the demo follows the rules of this minor version.
    pub version: String,
    /// Time between two bookmarks of a watch, in the demo's time.
    pub bookmark_period: Duration,
    /// Time between two compactions, in the demo's time. Each one drops the history before the time of the previous one.
    pub compaction_interval: Duration,
    /// The minimum time for which a resource's events are kept, in the demo's time. Its snapshots are kept at least as long.
    pub event_window: Duration,
    /// Time between two progress notifications of the store, in the demo's time. They raise the revision of idle caches.
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
