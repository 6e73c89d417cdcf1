//! `watchtap webhook`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;

use super::injection::SidecarFlags;
use crate::injection::Options;
use crate::printable::print_error;
use crate::webhook::certificate::{Config, PodAccess, ServiceName, Source};
use crate::webhook::{Settings, run};

/// Gives pods their sidecar when they are created: an admission webhook for the API server.
///
/// A pod with the label `watchtap.dev/inject: enabled` gets the sidecar that `watchtap inject` would put into its manifest. All other
/// pods stay as they are. The webhook allows every pod; a quota, a policy or a missing image can still stop one because of its
/// sidecar. If a labelled pod cannot have a sidecar, it gets the annotation watchtap.dev/not-injected with the reason, which kubectl
/// also prints as a warning. The chart in deploy/chart runs this command; docs/webhook.md describes it.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  The label belongs into the template of a workload. Its next pods have sidecars:
  kubectl patch deployment web -p \\
    '{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"watchtap.dev/inject\":\"enabled\"}}}}}'

  In the pod of the webhook, with a certificate of its own:
  watchtap webhook --image registry.example/watchtap:0.1.0 \\
    --service watchtap.watchtap-system --configuration watchtap

  With a certificate of cert-manager, mounted as a Secret:
  watchtap webhook --image registry.example/watchtap:0.1.0 \\
    --service watchtap.watchtap-system --certificate /certificate

EXIT CODES:
  0  stopped on request; requests were answered for some seconds after that
  1  a port or the certificate could not be used
  2  usage error")]
pub(super) struct Webhook {
    #[command(flatten)]
    sidecar: SidecarFlags,

    /// Service by which the API server reaches this webhook: it is the name in the certificate
    #[arg(long, value_name = "NAME.NAMESPACE")]
    service: ServiceName,

    /// `MutatingWebhookConfiguration` that gets the certificate's authority (caBundle). The authority is kept in the Secret
    /// NAME-certificate of the Service's namespace, which all replicas share
    #[arg(long, value_name = "NAME", required_unless_present = "certificate")]
    configuration: Option<String>,

    /// Folder with tls.crt and tls.key, such as a Secret of cert-manager; they are read again when they change. Then no Secret is
    /// written, and caBundle is left to cert-manager
    #[arg(long, value_name = "FOLDER", conflicts_with = "configuration")]
    certificate: Option<PathBuf>,

    /// Address for the API server, which sends requests to /mutate by HTTPS; [::] stands for all addresses, IPv6 and IPv4
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "[::]:9443")]
    listen: SocketAddr,

    /// Address for /metrics (Prometheus, docs/metrics.md), /ready and /healthz, by HTTP and without authentication. They contain no
    /// name of any object
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "[::]:9643")]
    metrics: SocketAddr,
}

impl Webhook {
    pub(super) fn run(&self) -> ExitCode {
        let options = match self.sidecar.options() {
            Ok(options) => options,
            Err(usage) => return usage,
        };
        match self.settings(options).and_then(run) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                print_error(&error);
                ExitCode::FAILURE
            }
        }
    }

    fn settings(&self, injection: Options) -> Result<Settings> {
        let source = match (&self.certificate, &self.configuration) {
            (Some(folder), _) => Source::Folder(folder.clone()),
            (None, configuration) => {
                let api_server = PodAccess::of_environment().context("the webhook runs in a pod, or with --certificate")?;
                Source::OwnAuthority { configuration: configuration.clone().unwrap_or_default(), api_server }
            }
        };
        let certificate = Config { service: self.service.clone(), source };
        Ok(Settings { injection, listen: self.listen, metrics: self.metrics, certificate })
    }
}
