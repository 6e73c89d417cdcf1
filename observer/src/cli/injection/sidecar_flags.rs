//! Flags that shape the sidecar, wherever it is added.

use std::process::ExitCode;

use clap::Args;
use observer_core::routing::ServerVersion;

use crate::injection::{Amount, Options, PULL_POLICIES};
use crate::printable::print_message;

/// The exit code of a usage error, as clap has it.
const USAGE: u8 = 2;

/// The sidecar's image, resources and arguments.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct SidecarFlags {
    /// Image of the sidecar: none is published yet, so build one (docs/image.md) and put it where the cluster finds it
    #[arg(long, value_name = "IMAGE", value_parser = image)]
    image: String,

    /// When nodes pull the image (default: Always for the tag latest, otherwise `IfNotPresent`)
    #[arg(long, value_name = "POLICY", value_parser = PULL_POLICIES)]
    image_pull_policy: Option<String>,

    /// Requests of the sidecar, such as cpu=50m,memory=64Mi, for quotas and limit ranges
    #[arg(long, value_name = "RESOURCE=QUANTITY,…", value_delimiter = ',')]
    requests: Vec<Amount>,

    /// Limits of the sidecar, such as memory=64Mi (at least 32Mi); 0 for no limit. A limit for cpu delays the traffic
    #[arg(long, value_name = "RESOURCE=QUANTITY,…", value_delimiter = ',')]
    limits: Vec<Amount>,

    /// The API server's version, such as 1.34.2, if it answers no anonymous client (--anonymous-auth=false): a sidecar has no token
    /// to ask for it. Change it after each upgrade, and inject again
    #[arg(long, value_name = "VERSION", value_parser = server_version)]
    server_version: Option<String>,

    /// The cluster is OpenShift, which assigns users and has a certificate of its own
    #[arg(long)]
    openshift: bool,
}

impl SidecarFlags {
    /// The options of these flags. The error is the exit code, after its reason was printed.
    pub(in crate::cli) fn options(&self) -> Result<Options, ExitCode> {
        if let Some(resource) = Amount::first_above_limit(&self.requests, &self.limits) {
            print_message(format_args!("--requests has more {resource} than --limits allows"));
            return Err(ExitCode::from(USAGE));
        }
        if !Amount::allow_a_sidecar(&self.limits) {
            print_message(format_args!(
                "--limits gives less memory than a sidecar needs, and the pod would not start: give 32Mi or more (default: 128Mi)"
            ));
            return Err(ExitCode::from(USAGE));
        }
        Ok(Options {
            image_pull_policy: self.image_pull_policy.clone(),
            requests: self.requests.clone(),
            limits: self.limits.clone(),
            server_version: self.server_version.clone(),
            openshift: self.openshift,
            ..Options::with_image(self.image.clone())
        })
    }
}

/// The text that the sidecar's command line gets.
fn server_version(text: &str) -> Result<String, String> {
    text.parse::<ServerVersion>().map(|_| text.to_owned()).map_err(|error| error.to_string())
}

fn image(text: &str) -> Result<String, String> {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || "-._/:@[]".contains(character);
    if text.is_empty() || !text.chars().all(is_allowed) {
        return Err("expected the name of an image, such as localhost/watchtap:1".to_owned());
    }
    Ok(text.to_owned())
}
