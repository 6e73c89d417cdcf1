//! Reflectors of client-go of several ages, as they look on the wire: what they ask for, how long they pause, what they do with a failure.
//!
//! They follow client-go `tools/cache/reflector.go`, `tools/pager/pager.go` and `rest/request.go` at the versions of [`ClientGo`], written
//! anew from what those do. They keep no objects: only the revision, on which all that they ask depends.

mod answer;
mod backoff;
mod door;
mod process;
mod reflector;
mod release;
mod rest;
mod watching;

pub(super) use door::{Door, Windows};
pub(super) use process::Process;
pub(super) use reflector::Reflector;
pub(super) use release::ClientGo;
