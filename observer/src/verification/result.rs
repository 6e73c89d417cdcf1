//! What comes of it.

use observer_core::routing::ServerProfile;
use observer_core::verification::{Row, Tally};
use serde::Serialize;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// What the server says it is.
    pub server_version: String,
    /// What the rules were told of it.
    pub profile: ServerProfile,
    /// The same in words.
    pub assumptions: Vec<String>,
    /// The resource.
    pub resource: String,
    /// Whether it was looked for, and nobody else read it then.
    pub chosen: bool,
    /// Who witnessed what the server did.
    pub witnesses: Vec<&'static str>,
    /// Requests that were made.
    pub requests: u32,
    /// Each shape.
    pub rows: Vec<Row>,
    /// All shapes.
    pub tally: Tally,
}
