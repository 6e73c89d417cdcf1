//! The facts about an API server that the observing thread needs.

use observer_core::routing::ServerProfile;

use crate::api_server::UpstreamId;

/// An API server of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Its identifier in the deliveries of taps; unique in a run.
    pub id: UpstreamId,
    /// The name in reports.
    pub name: String,
    /// The path in front of the API server's own paths; may be empty.
    pub path_prefix: String,
    /// The server profile. `None` if it is learned later. Verdicts need it, so until then, deliveries of the server's clients wait
    /// for [`crate::intake::Notice::Profile`].
    pub profile: Option<ServerProfile>,
}
