//! The flags that shaped a sidecar, as the record keeps them for the next injection.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use observer_core::routing::ServerVersion;

use super::options::{Amount, EarlierFlags, Options, PULL_POLICIES};
use super::outcome::Refusal;
use super::pointer;
use crate::dns_label::is_dns_label;

/// The flags of one injection. A later one uses each of them that is not given again; the image is always given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Flags {
    #[serde(skip_serializing_if = "Option::is_none")]
    image_pull_policy: Option<String>,
    /// As the flag has them: `cpu=50m,memory=64Mi`.
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_version: Option<String>,
    /// Sorted, and only those that the pod has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    containers: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    service_account_token: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    openshift: bool,
}

impl Flags {
    /// Those that matter to this pod.
    pub(super) fn of(options: &Options, pod: &Value) -> Self {
        let has = |name: &&String| {
            ["containers", "initContainers"].into_iter().any(|group| pointer::find(pod, &["spec", group, name]).is_some())
        };
        let mut containers: Vec<String> = options.containers.iter().filter(has).cloned().collect();
        containers.sort();
        containers.dedup();
        Self {
            image_pull_policy: options.image_pull_policy.clone(),
            requests: written(&options.requests),
            limits: written(&options.limits),
            server_version: options.server_version.clone(),
            containers,
            service_account_token: options.service_account_token,
            openshift: options.openshift,
        }
    }

    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The first flag with a value that injection does not write.
    pub(super) fn first_bad(&self) -> Option<&'static str> {
        let is_policy = |policy: &str| PULL_POLICIES.contains(&policy);
        let is_version = |version: &str| version.parse::<ServerVersion>().is_ok();
        let is_written = |text: &str| written(&amounts(Some(text))).as_deref() == Some(text);
        let are_sorted = self.containers.is_sorted_by(|one, next| one < next);
        let limits = amounts(self.limits.as_deref());
        let above_limit = Amount::first_above_limit(&amounts(self.requests.as_deref()), &limits);
        let are_good = [
            ("--image-pull-policy", self.image_pull_policy.as_deref().is_none_or(is_policy)),
            ("--server-version", self.server_version.as_deref().is_none_or(is_version)),
            ("--requests", self.requests.as_deref().is_none_or(is_written) && above_limit.is_none()),
            ("--limits", self.limits.as_deref().is_none_or(is_written) && Amount::allow_a_sidecar(&limits)),
            ("--container", are_sorted && self.containers.iter().all(|name| is_dns_label(name))),
        ];
        are_good.into_iter().find(|(_, is_good)| !is_good).map(|(flag, _)| flag)
    }

    /// The options with these flags, as far as they are not given again.
    pub(super) fn complete(&self, given: &Options) -> Result<Options, Refusal> {
        let mut options = given.clone();
        if given.earlier_flags == EarlierFlags::Forget {
            return Ok(options);
        }
        if options.requests.is_empty() {
            options.requests = amounts(self.requests.as_deref());
        }
        if options.limits.is_empty() {
            options.limits = amounts(self.limits.as_deref());
        }
        if options.containers.is_empty() {
            options.containers.clone_from(&self.containers);
        }
        options.image_pull_policy = options.image_pull_policy.or_else(|| self.image_pull_policy.clone());
        options.server_version = options.server_version.or_else(|| self.server_version.clone());
        options.service_account_token |= self.service_account_token;
        options.openshift |= self.openshift;
        match Amount::first_above_limit(&options.requests, &options.limits) {
            Some(resource) => Err(Refusal::new(
                format!("--requests has more {resource} than --limits allows; one of them is that of the earlier injection"),
                "give both flags, or --reset-flags",
            )),
            None => Ok(options),
        }
    }
}

/// The notation of the flag, with the amounts that count: the last one of each resource.
fn written(amounts: &[Amount]) -> Option<String> {
    let last = |resource: &str| amounts.iter().rev().find(|amount| amount.resource == resource);
    let parts: Vec<String> =
        Amount::RESOURCES.into_iter().filter_map(last).map(|amount| format!("{}={}", amount.resource, amount.quantity)).collect();
    (!parts.is_empty()).then(|| parts.join(","))
}

/// The amounts of such a text, as far as they are valid.
fn amounts(text: Option<&str>) -> Vec<Amount> {
    text.into_iter().flat_map(|text| text.split(',')).filter_map(|amount| amount.parse().ok()).collect()
}
