//! Flags of a run as the sidecar of a pod.

use anyhow::Result;
use clap::Args;

use crate::printable::print_message;
use crate::session::ContainerPort;

/// Whether the run is the sidecar of a pod, and whose clients it serves.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct InClusterFlags {
    /// Run as the sidecar of a pod, in the container that `watchtap inject` adds. The API server is that of
    /// `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`, its CA the mounted kube-root-ca.crt. watchtap has no token: its own
    /// requests are anonymous
    #[arg(long, requires = "containers", conflicts_with_all = [
        "kubeconfig", "context", "upstream", "upstream_ca", "upstream_insecure", "via", "listen", "or_demo",
    ])]
    in_cluster: bool,

    /// A container of the pod, and the port of 127.0.0.1 to which its clients connect; may be given several times. The port
    /// identifies the container, since the processes of containers are hidden from each other
    #[arg(long = "container", value_name = "NAME=PORT", requires = "in_cluster")]
    containers: Vec<ContainerPort>,

    /// Link service-ca.crt, the certificate of OpenShift's services, for the containers
    #[arg(long, requires = "in_cluster")]
    service_ca: bool,
}

impl InClusterFlags {
    /// Whether the containers' volume has a certificate of OpenShift's services.
    pub(crate) const fn with_service_ca(&self) -> bool {
        self.service_ca
    }

    /// The containers whose clients the sidecar serves; `None` if the run is no sidecar. Prints a message for each port that may be
    /// taken.
    pub(crate) fn containers(&self) -> Result<Option<&[ContainerPort]>> {
        ContainerPort::check(&self.containers)?;
        ContainerPort::warnings(&self.containers).into_iter().for_each(print_message);
        Ok(self.in_cluster.then_some(&self.containers))
    }
}
