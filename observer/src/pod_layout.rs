//! The layout of a pod with watchtap as a sidecar: containers, volumes, folders and ports. `watchtap inject` writes it into
//! manifests, and `watchtap run --in-cluster` relies on it.

/// The name of the sidecar's container, an init container with `restartPolicy: Always`. It is the first one, so that the init
/// containers after it are observed, too.
pub const CONTAINER: &str = "watchtap";

/// Where clients in pods read `ca.crt`, `token` and `namespace` (kubernetes/client-go `rest/config.go`, `InClusterConfig`). In the
/// sidecar, it has only the `ca.crt` of the cluster.
pub const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The folder of the app to which the kubelet's volume is moved, with the token and the namespace.
pub const MOVED_SERVICE_ACCOUNT: &str = "/var/run/secrets/watchtap/serviceaccount";

/// The folder of [`MOVED_SERVICE_ACCOUNT`], [`OWN`] and [`TRUST`], in which containers of the pod must mount nothing else.
pub const FOLDER: &str = "/var/run/secrets/watchtap";

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

/// The port of the first container's listener. Each further container has the next one. Some clients use plain HTTP for the ports
/// 80, 8080 and 8001. The system chooses ports from 32768 on for outgoing connections.
pub const FIRST_PORT: u16 = 16443;

/// Maximum number of containers that one sidecar serves. Each takes two file descriptors.
pub const MOST_CONTAINERS: usize = 128;

/// Maximum number of containers of a pod that gets a sidecar, so that the time for a decision is bounded: each change looks for its
/// container among all.
pub const MOST_IN_POD: usize = 1024;

/// The port of `/started`, `/healthz` and `/metrics`, on all addresses of the pod.
pub const METRICS_PORT: u16 = 9643;

/// The user and group of the sidecar. A process of the pod with the same UID could take the sidecar's ports, and read its memory if
/// processes are shared. So it is none that images use: 65532, 65534 and 1000 are common. It is below 65536, so that it exists in user
/// namespaces.
pub const USER: u32 = 59643;

/// The memory limit of the sidecar's container, unless flags or the pod give another. `run` divides it among its parts.
pub const MEMORY_LIMIT: &str = "128Mi";

/// The annotation that holds what `watchtap inject` replaced in the pod.
pub const ANNOTATION: &str = "watchtap.dev/injected";

/// The label of a pod that requests a sidecar when the pod is created, with the value [`LABEL_VALUE`]. `watchtap webhook` and the policy
/// of `watchtap inject --policy` select pods by it.
pub const LABEL: &str = "watchtap.dev/inject";

/// The value of [`LABEL`] that requests a sidecar. It is not `true`, which YAML would read as a boolean.
pub const LABEL_VALUE: &str = "enabled";

/// The annotation of a pod that got its sidecar at admission. Its value is watchtap's version. Such a pod has no [`ANNOTATION`]: it is
/// never uninjected, since it is replaced when the label is removed from its template.
pub const ADMITTED: &str = "watchtap.dev/admitted";

/// The annotation of a pod with [`LABEL`] that was refused a sidecar at admission. Its value is the reason and the remedy, on one line
/// of at most [`MAXIMUM_REFUSAL`] bytes. So refused pods are distinguished from pods that no webhook saw.
pub const REFUSED: &str = "watchtap.dev/not-injected";

/// Maximum length of the value of [`REFUSED`], in bytes.
pub const MAXIMUM_REFUSAL: usize = 1024;

/// The prefix of every warning that admission returns. kubectl prints these warnings.
pub const WARNING_PREFIX: &str = "watchtap: ";
