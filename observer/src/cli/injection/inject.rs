//! `watchtap inject`.

use std::process::ExitCode;

use clap::Args;

use super::edit_manifests::edit_manifests;
use super::manifest_flags::ManifestFlags;
use super::outputs;
use super::sidecar_flags::SidecarFlags;
use crate::injection::{EarlierFlags, KubernetesVersion, Options, policy};
use crate::printable::print_error;

/// Puts watchtap beside the containers of a pod: manifests in, manifests out.
///
/// It changes the text of pods, and of workloads with pods: a sidecar, its volumes, and the variables and mounts that route clients
/// through it. All other bytes stay, and `watchtap uninject` restores the original ones. Injecting again updates the sidecar, with its
/// earlier flags. stderr reports per object what was done, or why not. docs/injection.md lists every change and every refusal.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each one is a flag")]
#[command(after_help = "EXAMPLES:
  watchtap inject --image registry.example/watchtap:0.1.0 serviceaccount.yaml web.yaml \\
    | kubectl apply -f -
  kubectl get deployment/web serviceaccount/web -o yaml \\
    | watchtap inject --image registry.example/watchtap:0.1.0 | kubectl apply -f -
  helm template ./chart | watchtap inject --image registry.example/watchtap:0.1.0 \\
    --container manager | kubectl apply -f -
  watchtap inject --image registry.example/watchtap:0.1.0 --in-place manifests/
  watchtap inject --image registry.example/watchtap:0.1.0 --check manifests/
  watchtap inject --image registry.example/watchtap:0.1.0 --policy | kubectl apply -f -

EXIT CODES:
  0  every selected object has the sidecar; patches and objects of unknown
     kinds are reported as not injected
  1  an input could not be read, or an output not be written; without
     --in-place, no manifest was written
  2  usage error
  3  an object was refused, and passes unchanged; or no object has a container
     that --container names. Everything else was done")]
pub(in crate::cli) struct Inject {
    #[command(flatten)]
    manifests: ManifestFlags,

    #[command(flatten)]
    sidecar: SidecarFlags,

    /// Observe only this container; may be given several times (default: all containers, init containers, too)
    #[arg(long = "container", value_name = "NAME")]
    containers: Vec<String>,

    /// The oldest version among the cluster's nodes, such as 1.33: the sidecar needs 1.29
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<KubernetesVersion>,

    /// The pods have tokens: do not refuse a pod whose ServiceAccount is not in the input
    #[arg(long)]
    assume_token: bool,

    /// Mount a token even if the pod or its ServiceAccount withholds it
    #[arg(long)]
    service_account_token: bool,

    /// Print a `MutatingAdmissionPolicy` and its binding, and read no manifest: Kubernetes 1.36 or later then gives each new pod with
    /// the label watchtap.dev/inject=enabled its sidecar, or an annotation with the reason why not. Pods that are too large for the API server's cost limits pass unchanged
    /// (deploy/README.md)
    #[arg(long, conflicts_with_all = [
        "inputs", "in_place", "check", "discard_edits", "format", "containers", "kubernetes_version", "assume_token",
        "service_account_token", "reset_flags"])]
    policy: bool,

    /// Forget the flags of the earlier injection, which otherwise count again, as far as they are not given
    #[arg(long)]
    reset_flags: bool,
}

impl Inject {
    pub(in crate::cli) fn run(&self) -> ExitCode {
        let sidecar = match self.sidecar.options() {
            Ok(options) => options,
            Err(usage) => return usage,
        };
        let options = Options {
            containers: self.containers.clone(),
            kubernetes: self.kubernetes_version,
            edits: self.manifests.edits(),
            earlier_flags: if self.reset_flags { EarlierFlags::Forget } else { EarlierFlags::Use },
            assume_token: self.assume_token,
            service_account_token: self.service_account_token,
            ..sidecar
        };
        if self.policy {
            return print_policy(&options);
        }
        edit_manifests(&self.manifests, &self.containers, &|manifest, accounts| manifest.inject(&options, accounts))
    }
}

fn print_policy(options: &Options) -> ExitCode {
    match outputs::to_stdout(&[policy(options)]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&anyhow::Error::new(error).context("cannot write to stdout"));
            ExitCode::FAILURE
        }
    }
}
