//! Incidents of real clusters (`docs/incidents.md`), each with a real client and a real API server.

mod deaf;
mod etcd;
mod first_screen;
mod java;
mod many;
mod never_synced;
mod python;
