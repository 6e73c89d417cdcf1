//! Text of strangers in every field that they fill, and every view that could show it.
//!
//! The fields are found, not listed: observations become JSON, their texts are replaced, and what the core still takes is what a stranger can
//! send or a capture hold.

mod samples;
mod spoiling;
mod views;
