//! Groups of flags that several subcommands share, and the values that they parse.

#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod api_servers;
mod attach;
mod budget;
mod budget_file;
mod byte_size;
mod capture;
mod in_cluster;
mod log_zone;
mod metrics;
mod otlp;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod probe;
mod profile;
mod report;
mod upstream;

#[cfg(all(target_os = "linux", feature = "ebpf"))]
pub(crate) use api_servers::{ApiServerFlags, unverified};
pub(crate) use attach::{AttachFlags, ReadyToAttach, attach_folders};
pub(crate) use budget::{BudgetFiles, BudgetFlags};
pub(crate) use byte_size::ByteSize;
pub(crate) use capture::CaptureFlags;
pub(crate) use in_cluster::InClusterFlags;
pub(crate) use log_zone::LogZoneFlags;
pub(crate) use metrics::MetricsFlags;
pub(crate) use otlp::OtlpFlags;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
pub(crate) use probe::ProbeFlags;
pub(crate) use profile::{ProfileFlags, ProfileSourceFlags};
pub(crate) use report::{Otherwise, Report, ReportFlags};
pub(crate) use upstream::{KubeconfigFlags, UpstreamFlags};
