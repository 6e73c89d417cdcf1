//! Where the webhook's certificate comes from.

use std::path::PathBuf;

use super::{PodAccess, ServiceName};

/// Which certificate the webhook needs, and where it comes from.
#[derive(Clone, Debug)]
pub struct Config {
    /// The Service by which the API server reaches the webhook.
    pub service: ServiceName,
    /// Where the certificate comes from.
    pub source: Source,
}

/// Where the certificate comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// The webhook's own authority, in the Secret `NAME-certificate` of the Service's namespace.
    OwnAuthority {
        /// The `MutatingWebhookConfiguration` that gets the `caBundle`.
        configuration: String,
        /// How the API server is reached.
        api_server: PodAccess,
    },
    /// `tls.crt` and `tls.key` in this folder, as cert-manager keeps them up to date.
    Folder(PathBuf),
}
