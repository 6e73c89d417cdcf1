//! Bodies in JSON, as streams.
//!
//! A parser walks the few interesting places of a body and skips everything else, 64 bytes at a time; a receiver for documents and
//! one for watches make facts of what it finds. Nothing is kept of what is skipped. Strings that are kept are unescaped and cut; a
//! value of another type than expected is as good as absent. Of members that occur twice, which no Go encoder writes, one counts.

mod document;
mod watch;

mod outline;
mod resync;

mod parser;
mod place;

mod block;
mod nesting;
mod text;

pub(super) use document::DocumentReader;
pub(super) use watch::WatchReader;
