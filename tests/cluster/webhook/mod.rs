//! `watchtap webhook`, called by a real API server.

mod failures;
pub(crate) mod registration;
mod third_party;
