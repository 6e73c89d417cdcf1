//! `pod`: the costs of the sidecar in a pod of a real node: its memory and CPU, the latency that it adds, the start of the pod, and the
//! image.
//!
//! The sidecar is the program of an image, put there by its own `inject`. Clients and the programs that it is compared with are in Go
//! (`tests/cluster/go/workload`, `tests/cluster/go/trivial`). So this bench may be a debug build.

mod command;
mod container;
mod idle;
mod image;
mod latency;
mod report;
mod stage;
mod start;

pub(crate) use command::{Args, execute};
