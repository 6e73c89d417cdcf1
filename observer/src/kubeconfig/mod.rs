//! Reads kubeconfigs: the meaning of their contexts, and the copy with which clients connect through the proxy.
//!
//! Clusters, users and contexts have the meaning that the `kube` crate gives them. Several files are merged as in client-go
//! (kubernetes/client-go `tools/clientcmd/loader.go`, v0.34). The copy is made by editing the untyped tree, because a typed
//! kubeconfig would lose fields that its types do not have. Nothing here reads the environment of the process; callers pass it as
//! an argument.

mod client_copy;
mod document;
mod environment;
mod error;
mod exec_plugin;
mod merged;
mod pairs;
mod paths;
mod pem;
mod run_folder;
mod runtime_directory;
mod secret;
mod section;
mod selected;
mod upstream;

pub use client_copy::{ClientCertificatePair, ClientCopy, ClientEndpoint, PluginInPlace, Via, Way};
pub use environment::Environment;
pub use error::{Error, Location};
pub use exec_plugin::ExecPlugin;
pub use merged::{Kubeconfig, ServerTrust};
pub use pairs::{LeftOut, MAX_PAIRS, Pair, Pairs};
pub use run_folder::RunFolder;
pub use runtime_directory::NotPrivate;
pub(crate) use runtime_directory::{check_directory, check_own_directory};
pub use secret::Secret;
pub use selected::{BasicAuth, BearerToken, CaSource, ClientCertificate, Selected};
pub use upstream::Upstream;

#[cfg(test)]
mod tests;
