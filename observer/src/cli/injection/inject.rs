//! `watchtap inject`.

use std::process::ExitCode;

use clap::Args;

use super::edit_manifests::edit_manifests;
use super::manifest_flags::ManifestFlags;
use crate::injection::{DEFAULT_IMAGE, KubernetesVersion, Options};

/// Puts watchtap beside the containers of a pod: manifests in, manifests out.
///
/// It changes the text of pods, and of workloads with pods: a sidecar, its volumes, and the variables and mounts that lead clients to
/// it. All other bytes stay, and `watchtap uninject` restores the original ones. Injecting again updates the sidecar. stderr reports
/// per object what was done, or why not. docs/injection.md lists every change and every refusal.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap inject deployment.yaml | kubectl apply -f -
  kubectl get deployment web -o yaml | watchtap inject | kubectl apply -f -
  helm template ./chart | watchtap inject --container manager | kubectl apply -f -
  watchtap inject --in-place manifests/
  watchtap inject --check manifests/

EXIT CODES:
  0  every object with a pod has the sidecar; or, with --container, none has
     such a container except those that were injected
  1  an input could not be read, or an output not be written; without
     --in-place, no manifest was written
  2  usage error
  3  an object was refused and passes unchanged, or no pod has a container
     that --container names; everything else was done")]
pub(in crate::cli) struct Inject {
    #[command(flatten)]
    manifests: ManifestFlags,

    /// Image of the sidecar
    #[arg(long, value_name = "IMAGE", default_value = DEFAULT_IMAGE, value_parser = image)]
    image: String,

    /// Observe only this container; may be given several times (default: all containers, init containers, too)
    #[arg(long = "container", value_name = "NAME")]
    containers: Vec<String>,

    /// The oldest version among the cluster's nodes, such as 1.33: the sidecar needs 1.29
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<KubernetesVersion>,

    /// Mount a token even if the pod or its ServiceAccount withholds it
    #[arg(long)]
    service_account_token: bool,

    /// The cluster is OpenShift, which assigns users and has a certificate of its own
    #[arg(long)]
    openshift: bool,
}

impl Inject {
    pub(in crate::cli) fn run(&self) -> ExitCode {
        let options = Options {
            image: self.image.clone(),
            containers: self.containers.clone(),
            kubernetes: self.kubernetes_version,
            service_account_token: self.service_account_token,
            openshift: self.openshift,
        };
        edit_manifests(&self.manifests, &self.containers, &|manifest, accounts| manifest.inject(&options, accounts))
    }
}

fn image(text: &str) -> Result<String, String> {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || "-._/:@[]".contains(character);
    if text.is_empty() || !text.chars().all(is_allowed) {
        return Err("expected the name of an image, such as localhost/watchtap:1".to_owned());
    }
    Ok(text.to_owned())
}
