//! Exec plug-ins of a kubeconfig's users, called in the middle.
//!
//! Nobody knows before running a plug-in whether it yields a token or a certificate. A token goes through the tap by itself. A certificate
//! does not, since the client's TLS ends at the tap: so the copy of the kubeconfig that a client gets names `watchtap credential` as the
//! plug-in. That runs the original one, hands on what it says, and if a certificate is in it gives this to the tap over a private socket and to
//! the client a private one instead, by which the tap lets in whoever may use the other.
//!
//! The document that goes between plug-in and client is `ExecCredential` (kubernetes/client-go `pkg/apis/clientauthentication/v1`, v0.34).

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
