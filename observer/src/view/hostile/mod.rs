//! Strangers' text in every field that they can fill, and every view that could show it.
//!
//! The fields are found, not listed. Observations become JSON, and their texts are replaced. If the core still accepts the result,
//! a stranger can send it or a capture can contain it.

mod inert;
mod samples;
mod spoiling;
mod views;
