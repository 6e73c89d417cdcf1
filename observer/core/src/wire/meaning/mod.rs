//! Interprets the values of a body, whatever syntax it is written in.
//!
//! `value_path` lists the few values whose content is read. A syntax passes them to a reader of documents or of watches, which
//! turns them into facts. A value of an unexpected type counts as absent. If a member occurs twice, which no encoder of Kubernetes
//! writes, only one counts.

mod document;
mod watch;

mod outline;
mod reader;
mod value_path;

pub(super) use document::DocumentReader;
pub(super) use reader::Reader;
pub(super) use value_path::{Field, Interest, Shape, ValuePath};
pub(super) use watch::WatchReader;
