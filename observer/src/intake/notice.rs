//! What a tap tells about itself and its upstream, outside of any connection.

use std::net::SocketAddr;

use observer_core::observation::ProbeMissed;
use observer_core::routing::ServerProfile;
use observer_core::time::Timestamp;

use super::UpstreamError;

/// One thing that happened to a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The listener opened or closed, as upstream does.
    Listener {
        /// When.
        at: Timestamp,
        /// Whose.
        listener: SocketAddr,
        /// What it is from now on.
        state: ListenerState,
    },
    /// Clients were reset that a direct connection would have found refused.
    ResetInsteadOfRefused {
        /// When.
        at: Timestamp,
        /// On which listener.
        listener: SocketAddr,
        /// How many.
        clients: u64,
    },
    /// What was learned of the API server behind a listener.
    Profile {
        /// When.
        at: Timestamp,
        /// Which listener's.
        listener: SocketAddr,
        /// All that is known of it now.
        profile: Box<ServerProfile>,
    },
    /// What the programs of a probe in the kernel could not record.
    ProbeMissed {
        /// When that was read.
        at: Timestamp,
        /// How much, since the last such notice.
        missed: ProbeMissed,
    },
    /// A program or library whose TLS connections a probe does not see.
    NotProbed {
        /// When that was found.
        at: Timestamp,
        /// Its file, as a process that runs it calls it.
        file: String,
        /// Why.
        why: String,
    },
    /// Somebody asked for the end of the run, or the command that is observed has exited.
    ShutdownRequested {
        /// When.
        at: Timestamp,
    },
    /// No connection to the API server came about for a client; the client's was reset.
    UpstreamFailed {
        /// When.
        at: Timestamp,
        /// For which listener.
        listener: SocketAddr,
        /// Why.
        error: UpstreamError,
    },
}

/// Whether clients can connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListenerState {
    /// Connections are accepted.
    Listening,
    /// Upstream refuses, so do we: the port is held, and connections are refused.
    Held,
}
