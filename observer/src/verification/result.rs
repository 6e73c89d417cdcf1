//! The result of a verification.

use observer_core::routing::ServerProfile;
use observer_core::verification::{Row, Tally};
use serde::Serialize;

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The version that the server reports.
    pub server_version: String,
    /// The server profile with which the verdicts were predicted.
    pub profile: ServerProfile,
    /// The basis of the profile's facts, as phrases for the report.
    pub assumptions: Vec<String>,
    /// The resource of the requests.
    pub resource: String,
    /// Whether watchtap chose the resource, because the user named none. No other client read it at that time.
    pub chosen: bool,
    /// The names of the witnesses of the server's reads.
    pub witnesses: Vec<&'static str>,
    /// Number of requests sent.
    pub requests: u32,
    /// One row per shape.
    pub rows: Vec<Row>,
    /// Number of rows by result.
    pub tally: Tally,
}
