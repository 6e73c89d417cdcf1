//! `watchtap webhook`: gives pods their sidecar when the API server admits them.
//!
//! `review` is pure: the bytes of an `AdmissionReview` in, those of its answer out. `injection` decides about the pod. `server` runs
//! `connections`, each of which leads to `admissions`. `status` answers probes and Prometheus on a port of its own.

mod admissions;
mod body;
pub mod certificate;
mod connections;
mod numbers;
mod pulse;
mod review;
mod server;
mod status;
mod timed_writes;

#[cfg(test)]
mod documented_bounds;

pub use review::answer_review;
pub(crate) use server::{Settings, run};
