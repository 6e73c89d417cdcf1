//! Exec plug-ins of a kubeconfig's users, called through watchtap.
//!
//! Only running a plug-in shows whether it returns a token or a certificate. A token passes through the tap. A certificate does
//! not, since the client's TLS ends at the tap. So the client's copy of the kubeconfig names `watchtap credential` as the plug-in,
//! which runs the original one and passes its output on. If the output contains a certificate, the tap gets it over a private
//! socket. The client gets a private certificate instead, and the tap admits only clients that present it.
//!
//! The document between plug-in and client is `ExecCredential` (kubernetes/client-go `pkg/apis/clientauthentication/v1`, v0.34).

mod call;
mod exchange;
mod exec_credential;
mod exec_info;
mod keeper;
mod plugin;
mod server;

pub use call::{CallError, ask_for_plan, hand_over};
pub use exchange::Plan;
pub use exec_credential::ExecCredential;
pub use exec_info::{EXEC_INFO, with_cluster};
pub use keeper::{Keeper, PluginUser};
pub use plugin::{PluginCredential, PluginError, run_plugin};
pub use server::CredentialServer;

#[cfg(test)]
mod tests;
