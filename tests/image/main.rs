//! Tests of the container image that `cargo xtask image` builds. `cargo xtask test` builds it before, and names it in a variable.
//!
//! skopeo and umoci read the image as witnesses. The program runs as in a container: in its own root, which is read-only and holds nothing
//! else, as the user of the image.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

mod container;
mod layout;
mod licenses;
mod program;
mod witnesses;
