//! The API servers of a run, for the observing thread.

use observer_core::routing::ServerProfile;

use crate::api_server::UpstreamId;

/// An API server of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Its identifier in the reports of taps; no two of a run share one.
    pub id: UpstreamId,
    /// The name in reports.
    pub name: String,
    /// A path in front of the API server's own, or empty.
    pub path_prefix: String,
    /// The server profile. If it is `None`, it is learned later: a verdict needs it, so deliveries of the server's clients wait for
    /// [`crate::intake::Notice::Profile`].
    pub profile: Option<ServerProfile>,
}
