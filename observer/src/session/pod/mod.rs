//! A run as the sidecar of a pod: the folders that it shares with the pod's containers, and the files in them.

mod authority;
mod cluster_ca;
mod container_port;
mod folder;
mod names;
mod trust;
mod version;

pub(super) use authority::kept_authority;
pub(super) use cluster_ca::ClusterCa;
pub(crate) use container_port::{ContainerPort, DECLARE_PORT};
pub(super) use folder::Folder;
pub(super) use names::names;
pub(super) use trust::Trust;
pub(super) use version::{Pauses, next_profile};
