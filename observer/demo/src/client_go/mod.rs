//! Reflectors of several client-go releases, as they behave on the wire: their requests, their pauses, their reactions to failures.
//!
//! They follow client-go `tools/cache/reflector.go`, `tools/pager/pager.go` and `rest/request.go` at the versions of [`ClientGo`],
//! in code of our own. They keep no objects, only the revision: all their requests depend on it alone.

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
