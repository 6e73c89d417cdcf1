//! Reflectors of several client-go releases, as they behave on the wire: their requests, their pauses, their reactions to failures.
//!
//! They follow client-go `tools/cache/reflector.go`, `tools/pager/pager.go` and `rest/request.go` at the versions of [`ClientGo`],
//! but share no code with it. They keep only the revision and no objects, since their requests depend on nothing else.

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
