//! `watchtap attach`: the page and the report of a run, in another process.
//!
//! A run listens on a private socket. The page is drawn there, one for each terminal, and only while a terminal is attached. The
//! other process owns the terminal: it sends keys, and gets the cells that changed. Both sides treat the other as hostile. So the
//! socket takes bounded messages and writes no file, and no character of the run reaches the terminal except through the gate.
//! ARCHITECTURE.md has the alternatives.

pub mod any_bytes;
mod attached_page;
mod folders;
mod inbox;
mod kubectl;
mod link;
mod note_permit;
mod picture;
mod protocol;
mod relay;
mod run_report;
mod served_page;
mod server;
mod slots;
mod socket;
mod visit;
mod zone;

pub(crate) use attached_page::{AttachedPage, Farewell};
pub(crate) use folders::{Folders, Found};
pub(crate) use kubectl::{Kubectl, PodTarget};
pub(crate) use link::{Link, LinkError};
pub(crate) use protocol::ReportForm;
pub(crate) use relay::relay;
pub(crate) use run_report::ServedRun;
pub(crate) use server::AttachServer;
pub(crate) use socket::AttachSocket;

#[cfg(test)]
mod tests;
