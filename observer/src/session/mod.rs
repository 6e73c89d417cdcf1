//! One run: connects the API servers, the taps and the pipeline, from the start to the outcome. It does not know the command line.

#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod address_renewal;
mod binding;
mod client_files;
mod coverage;
mod descriptor_limit;
mod ends;
mod lifecycle;
mod listen_port;
mod listener;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod observed_server;
mod pod;
mod private_folder;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod probe_session;
mod shutdown;
mod stand_in;
mod tap_set;
mod troubles;

#[cfg(test)]
mod tests;

pub(crate) use descriptor_limit::DescriptorLimit;
pub(crate) use ends::{ENDED_AT_ONCE, Ends, SETTLING};
pub(crate) use lifecycle::{Bound, ListenerOptions, Session, runtime};
pub(crate) use listener::Listener;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
pub(crate) use observed_server::{ObservedServer, ObservedServers};
pub(crate) use pod::{ContainerPort, DECLARE_PORT};
#[cfg(feature = "demo")]
pub(crate) use private_folder::private_folder;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
pub(crate) use probe_session::ProbeSession;
pub(crate) use shutdown::Shutdown;
pub(crate) use tap_set::TapSet;
