//! Exec plugins of a kubeconfig's users, called through watchtap.
//!
//! Only running a plugin shows whether it returns a token or a certificate. A token passes through the tap. A certificate does
//! not, since the client's TLS ends at the tap. So the client's copy of the kubeconfig names `watchtap credential` as the plugin,
//! which runs the original one and passes its output on. If the output contains a certificate, the tap gets it over a private
//! socket. The client gets a private certificate instead, and the tap admits only clients that present it.

mod call;
mod exchange;
mod keeper;
mod server;

pub use call::{CallError, ask_for_plan, hand_over};
pub use exchange::Plan;
pub use keeper::{Keeper, PluginUser};
pub use server::CredentialServer;

#[cfg(test)]
mod tests;
