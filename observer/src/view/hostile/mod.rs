//! Puts untrusted text into every field that a client, a server or a capture can fill, and shows it in every view.
//!
//! The fields are found, not listed. Observations become JSON, and text is added to their texts. If the core still accepts the
//! result, a client or server can send it, or a capture can contain it.

mod inert;
mod samples;
mod spoiling;
mod views;
