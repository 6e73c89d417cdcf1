//! Runs exec plugins for watchtap's own requests, and reads and edits the documents that a plugin and its client exchange.
//!
//! The document between plugin and client is `ExecCredential` (kubernetes/client-go `pkg/apis/clientauthentication/v1`, v0.34).

mod exec_credential;
pub(crate) mod exec_info;
mod plugin;

pub(crate) use exec_credential::ExecCredential;
pub(crate) use exec_info::{EXEC_INFO, with_cluster};
pub(crate) use plugin::{PluginCredential, run_plugin};
