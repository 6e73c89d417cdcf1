//! The vocabulary of the Kubernetes API: verbs, resources, list options, continue tokens, `Status`; and the names of cgroups on a
//! node.
//!
//! Request lines and bodies are read exactly as kube-apiserver reads them, and cgroup paths as the kubelet and the container
//! runtimes write them. Names of pods are read as their controllers give them. Each file names its upstream source.

mod built_in;
mod container;
mod continue_token;
mod list_options;
mod pod;
pub mod query;
mod request_info;
mod status;
mod verb;

pub(crate) use built_in::is_misplaced;
pub use built_in::{is_namespaced, stable_resource, stable_resources};
pub use container::{Container, Unnamed};
pub use continue_token::{ContinueRevision, ContinueToken, InvalidContinueToken};
pub use list_options::{Continue, ListOptions, ResourceVersion, ResourceVersionMatch};
pub use pod::{Pod, Workload, WorkloadKind};
pub use request_info::{RequestInfo, Resource};
pub use status::{Status, StatusCause};
pub use verb::Verb;
