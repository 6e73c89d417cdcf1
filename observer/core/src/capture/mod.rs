//! Captures: the observations of a run as bytes of a file, and back. The form is described in `docs/capture.md`.
//!
//! A file is a head and blocks that can be read independently of one another, each with its length, its checksum, the ordinals and
//! times of its observations, and these as deflated JSON lines. A [`Writer`] makes the bytes, a [`Reader`] takes those of one file in any
//! splitting, a [`Replay`] joins files to the sequence of observations that the Observer was fed.
//!
//! JSON lines, because they carry the words of [`crate::observation`] as they are: what a later version adds to an observation is skipped by
//! an earlier one, and an observation that it does not know becomes [`crate::observation::What::Unknown`]. Deflate makes up for their length.

mod block;
mod bounds;
mod layout;
mod lines;
mod lost;
mod reader;
mod replay;
mod standing;
mod writer;

#[cfg(test)]
mod tests;

pub use layout::{FileHead, VERSION};
pub use lost::{Lost, LostReason, Refused};
pub use reader::{FileEnd, Reader, Record};
pub use replay::{Replay, Replayed};
pub use writer::Writer;
