//! Untrusted text in every field that a client, a server or a capture can fill, and every view that could show it.
//!
//! The fields are found, not listed. Observations become JSON, and their texts are replaced. If the core still accepts the result,
//! a client or server can send it, or a capture can contain it.

mod inert;
mod samples;
mod spoiling;
mod views;
