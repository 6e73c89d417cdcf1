//! The layout of a pod with watchtap as a sidecar: containers, volumes, folders and ports. `watchtap inject` writes it into
//! manifests, and `watchtap run --in-cluster` relies on it.

/// The name of the sidecar's container, an init container with `restartPolicy: Always`. It is the first one, so that the init
/// containers after it are observed, too.
pub const CONTAINER: &str = "watchtap";

/// Where clients in pods read `ca.crt`, `token` and `namespace` (kubernetes/client-go `rest/config.go`, `InClusterConfig`). In the
/// sidecar, it has only the `ca.crt` of the cluster.
pub const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The folder of the app to which kubelet's volume is moved, with the token and the namespace.
pub const MOVED_SERVICE_ACCOUNT: &str = "/var/run/secrets/watchtap/serviceaccount";

/// The sidecar's own folder, which no other container mounts: the key of its CA, and [`ATTACH_SOCKET`].
pub const OWN: &str = "/var/run/secrets/watchtap/own";

/// Where the sidecar mounts the volume that the app sees at [`SERVICE_ACCOUNT`].
pub const TRUST: &str = "/var/run/secrets/watchtap/trust";

/// The volume at [`OWN`].
pub const OWN_VOLUME: &str = "watchtap-own";

/// The volume at [`TRUST`] in the sidecar, and at [`SERVICE_ACCOUNT`] in the app.
pub const TRUST_VOLUME: &str = "watchtap-trust";

/// The volume at [`SERVICE_ACCOUNT`] in the sidecar.
pub const CLUSTER_CA_VOLUME: &str = "watchtap-real-ca";

/// The socket in [`OWN`] that `watchtap attach` connects to.
pub const ATTACH_SOCKET: &str = "attach.sock";

/// The port of the first container's listener. Each further container has the next one. Some clients use plain HTTP for the ports 80,
/// 8080 and 8001. The system chooses ports from 32768 on for outgoing connections.
pub const FIRST_PORT: u16 = 16443;

/// The port of `/started`, `/healthz` and `/metrics`, on all addresses of the pod.
pub const METRICS_PORT: u16 = 9643;

/// The annotation that holds what `watchtap inject` replaced in the pod.
pub const ANNOTATION: &str = "watchtap.dev/injected";
