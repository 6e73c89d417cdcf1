//! The choices that a user makes about injection.

use std::str::FromStr;

use serde_json::Value;

use super::quantity::{BILLION, billionths, canonical};
use super::uninject::Edits;

/// The values of `imagePullPolicy`.
pub(crate) const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

/// How pods are injected.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) image: String,
    /// One of [`PULL_POLICIES`]; `None` for the default of Kubernetes.
    pub(crate) image_pull_policy: Option<String>,
    /// Requests and limits of the sidecar, instead of the defaults.
    pub(crate) requests: Vec<Amount>,
    pub(crate) limits: Vec<Amount>,
    /// The version of the API server, if the sidecar cannot ask for it.
    pub(crate) server_version: Option<String>,
    /// The containers to lead; empty for all.
    pub(crate) containers: Vec<String>,
    /// The oldest version among the cluster's nodes, if it is known.
    pub(crate) kubernetes: Option<KubernetesVersion>,
    /// The treatment of edits in the parts of an earlier injection.
    pub(crate) edits: Edits,
    pub(crate) earlier_flags: EarlierFlags,
    pub(crate) seen: Seen,
    /// Whether service accounts that are not in the input are assumed to mount their tokens.
    pub(crate) assume_token: bool,
    /// Whether a pod gets a token even if its ServiceAccount withholds it.
    pub(crate) service_account_token: bool,
    /// Whether the cluster is OpenShift: it assigns UIDs, and adds a certificate of its own to the volume with the token.
    pub(crate) openshift: bool,
}

/// The treatment of the flags of an earlier injection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EarlierFlags {
    /// Each one counts again, unless it is given again.
    Use,
    Forget,
}

/// Where pods are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Before admission, which mounts a token if the ServiceAccount does not withhold it.
    InManifest,
    /// After ServiceAccount admission: a container without the mount has no token.
    AtAdmission,
}

impl Options {
    pub(crate) fn with_image(image: impl Into<String>) -> Self {
        Self {
            image: image.into(),
            image_pull_policy: None,
            requests: Vec::new(),
            limits: Vec::new(),
            server_version: None,
            containers: Vec::new(),
            kubernetes: None,
            edits: Edits::Keep,
            earlier_flags: EarlierFlags::Use,
            seen: Seen::InManifest,
            assume_token: false,
            service_account_token: false,
            openshift: false,
        }
    }
}

/// The smallest limit within which a sidecar runs, in billionths of a byte. `memory_budget` divides it.
pub(super) const LEAST_MEMORY: u128 = (32 << 20) * BILLION;

/// An amount of a resource, such as `memory=64Mi`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) resource: &'static str,
    pub(crate) quantity: String,
}

impl Amount {
    /// The resources that quotas and limit ranges know of a container.
    pub(super) const RESOURCES: [&'static str; 3] = ["cpu", "memory", "ephemeral-storage"];

    /// The first resource of which more is requested than its limit allows.
    pub(crate) fn first_above_limit(requests: &[Self], limits: &[Self]) -> Option<&'static str> {
        let limit = |resource: &str| limit(limits, resource);
        let is_above = |request: &&Self| limit(request.resource).is_some_and(|limit| request.billionths() > Some(limit));
        requests.iter().find(is_above).map(|request| request.resource)
    }

    /// Whether these limits leave enough memory for a sidecar.
    pub(crate) fn allow_a_sidecar(limits: &[Self]) -> bool {
        limit(limits, "memory").is_none_or(|limit| limit >= LEAST_MEMORY)
    }

    fn billionths(&self) -> Option<u128> {
        billionths(&Value::from(self.quantity.as_str()))
    }
}

/// The limit that counts: the last one. Zero is none.
fn limit(limits: &[Amount], resource: &str) -> Option<u128> {
    let limit = limits.iter().rev().find(|limit| limit.resource == resource)?;
    limit.billionths().filter(|limit| *limit > 0)
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, quantity) = text.split_once('=').ok_or("expected an amount such as memory=64Mi")?;
        let resource = Self::RESOURCES.into_iter().find(|known| *known == name);
        let resource = resource.ok_or_else(|| format!("expected one of {}, not `{name}`", Self::RESOURCES.join(", ")))?;
        // As the API server returns it, or another spelling would count as an edit.
        let canonical = canonical(quantity).ok_or_else(|| format!("`{quantity}` is no quantity such as 500m or 64Mi"))?;
        // Docker writes `128m` for what is 128Mi here.
        if resource != "cpu" && (quantity.ends_with(['m', 'u', 'n']) || canonical.ends_with('m')) {
            return Err(format!("`{quantity}` is in fractions of a byte: the suffix of mebibytes is Mi, such as 128Mi"));
        }
        Ok(Self { resource, quantity: canonical })
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
