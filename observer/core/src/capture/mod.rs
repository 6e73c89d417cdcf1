//! Captures: writes the observations of a run to files, as bytes, and reads them back. `docs/capture.md` describes the format.
//!
//! A file is a head and blocks that can be read independently of one another. Each block has its length, its checksum, and the
//! ordinals and times of its observations. The observations are deflated JSON lines. A [`Writer`] produces the bytes. A [`Reader`]
//! takes the bytes of one file in any chunks. A [`Replay`] joins the files into the sequence of observations that the Observer
//! received.
//!
//! A line is the JSON form of an observation ([`crate::observation`]). An earlier version of watchtap skips members that a later
//! one added. An observation of an unknown kind becomes [`Subject::Unknown`](crate::observation::Subject::Unknown). Deflate makes
//! up for the length of JSON.

mod block;
mod bounds;
mod layout;
mod lines;
mod lost;
mod reader;
mod replay;
mod restated;
mod writer;

#[cfg(test)]
mod tests;

pub use layout::{FileHead, MAGIC, VERSION};
pub use lost::{Lost, LostReason, Refused};
pub use reader::{FileEnd, Reader, Record};
pub use replay::{Replay, Replayed};
pub use writer::Writer;
