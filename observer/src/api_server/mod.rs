//! The API server behind a tap: its address, the route to it, the verification of its certificate, and watchtap's own requests to
//! it.

mod credentials;
mod endpoint;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod endpoint_slice;
mod in_cluster;
mod name;
mod profile;
pub mod request;
mod route;
mod tls;

pub(crate) use credentials::certificate;
pub use endpoint::{UpstreamEndpoint, UpstreamId};
pub(crate) use endpoint::{endpoint, forward_proxy};
#[cfg(all(target_os = "linux", feature = "ebpf"))]
pub(crate) use endpoint_slice::EndpointSliceReader;
#[cfg(all(test, target_os = "linux", feature = "ebpf"))]
pub(crate) use endpoint_slice::{Reply, ScriptedServer};
pub(crate) use in_cluster::ServiceInPod;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
pub(crate) use in_cluster::is_in_pod;
pub(crate) use name::name;
#[cfg(test)]
pub(crate) use name::name_behind;
pub(crate) use profile::{ProfileOverrides, ProfileSource, gates_without_effect};
pub use route::{ForwardProxyFault, Transport, UpstreamError, UpstreamRoute};
pub(crate) use route::{dial, read_head, timed_out};
pub use tls::{ClientCertificate, TlsConfigError, UpstreamFiles, UpstreamIdentity, UpstreamReading, UpstreamTls, UpstreamTrust};
pub(crate) use tls::{upstream_files, upstream_tls};
