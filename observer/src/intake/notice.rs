//! Reports of a tap about itself and its upstream, outside of any connection.

use observer_core::observation::{ListenerState, ProbeMissed};
use observer_core::routing::ServerProfile;
use observer_core::time::Timestamp;

use crate::api_server::{UpstreamError, UpstreamId};

/// One event of a listener, a probe or the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A reader asks the observing thread for something. This only wakes it.
    Asked,
    /// The listener opened or closed, because upstream began to accept or refuse connections.
    Listener {
        /// When it changed.
        at: Timestamp,
        /// The API server behind the listener.
        upstream: UpstreamId,
        /// Its new state.
        state: ListenerState,
    },
    /// Clients were reset that would have been refused without watchtap.
    ResetInsteadOfRefused {
        /// When they were reset.
        at: Timestamp,
        /// Number of these clients.
        clients: u64,
    },
    /// New facts about the version, feature gates or etcd of an API server.
    Profile {
        /// When it was learned.
        at: Timestamp,
        /// The API server.
        upstream: UpstreamId,
        /// All that is known of the API server now.
        profile: Box<ServerProfile>,
    },
    /// Records that a probe's programs in the kernel could not make.
    ProbeMissed {
        /// When the kernel's counters were read.
        at: Timestamp,
        /// How much was missed since the last such notice.
        missed: ProbeMissed,
    },
    /// A probe does not see the TLS connections of a program or library.
    NotProbed {
        /// When that was found.
        at: Timestamp,
        /// The path of the program or library, as seen by a process that runs it.
        file: String,
        /// The reason, as text.
        why: String,
    },
    /// Shutdown was requested, or the observed command has exited.
    ShutdownRequested {
        /// When it happened.
        at: Timestamp,
    },
    /// The demo cluster begins a fault.
    Fault {
        /// When it begins.
        at: Timestamp,
        /// The fault, in the words of the script.
        act: String,
        /// The message that the script printed before it; empty if there was none.
        note: String,
    },
    /// No upstream connection could be made for a client, so the client was reset.
    UpstreamFailed {
        /// When it failed.
        at: Timestamp,
        /// How it failed.
        error: UpstreamError,
    },
}
