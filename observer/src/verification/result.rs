//! The result of a verification.

use observer_core::routing::ServerProfile;
use observer_core::verification::{Row, Tally};
use serde::Serialize;

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The version that the server reports.
    pub server_version: String,
    /// The server profile that the rules were given.
    pub profile: ServerProfile,
    /// The facts of the profile that verdicts rest on, in phrases.
    pub assumptions: Vec<String>,
    /// The resource asked for.
    pub resource: String,
    /// Whether it was chosen, not named; no other client read it at that time.
    pub chosen: bool,
    /// The witnesses of the server's reads, in words.
    pub witnesses: Vec<&'static str>,
    /// Number of requests sent.
    pub requests: u32,
    /// One row per shape.
    pub rows: Vec<Row>,
    /// Counts over all rows.
    pub tally: Tally,
}
