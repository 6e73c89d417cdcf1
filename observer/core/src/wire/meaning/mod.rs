//! What the values of a body say, however they are written.
//!
//! `place` names the few values whose inside is read; a reader of documents and one of watches are told of them by a syntax, and make
//! facts of them. A value of another type than expected is as good as absent. Of members that occur twice, which no encoder of
//! Kubernetes writes, one counts.

mod document;
mod watch;

mod outline;
mod place;
mod reader;

pub(super) use document::DocumentReader;
pub(super) use place::{Field, Interest, Place, Shape};
pub(super) use reader::Reader;
pub(super) use watch::WatchReader;
