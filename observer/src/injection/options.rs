//! The choices that a user makes about injection.

use std::str::FromStr;

/// The image of the sidecar, unless another one is chosen.
pub(crate) const DEFAULT_IMAGE: &str = concat!("ghcr.io/watchtap/watchtap:", env!("CARGO_PKG_VERSION"));

/// How pods are injected.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) image: String,
    /// The containers to lead; empty for all.
    pub(crate) containers: Vec<String>,
    /// The oldest version among the cluster's nodes, if it is known.
    pub(crate) kubernetes: Option<KubernetesVersion>,
    /// Whether a pod gets a token even if its ServiceAccount withholds it.
    pub(crate) service_account_token: bool,
    /// Whether the cluster is OpenShift: it assigns UIDs, and adds a certificate of its own to the volume with the token.
    pub(crate) openshift: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            image: DEFAULT_IMAGE.to_owned(),
            containers: Vec::new(),
            kubernetes: None,
            service_account_token: false,
            openshift: false,
        }
    }
}

/// A minor version, such as 1.33; a patch version is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KubernetesVersion {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

impl FromStr for KubernetesVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = || {
            let mut parts = text.strip_prefix('v').unwrap_or(text).split('.');
            let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?.trim_end_matches('+').parse().ok()?);
            Some(Self { major, minor })
        };
        parsed().ok_or_else(|| "expected a version such as 1.33".to_owned())
    }
}
