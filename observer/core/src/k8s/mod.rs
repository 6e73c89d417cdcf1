//! The words of the Kubernetes API: verbs, resources, list options, continue tokens, `Status`; and the names that a node gives to cgroups.
//!
//! Everything is read from a request line or a body exactly as kube-apiserver does it, or from a cgroup's path as kubelet and the container
//! runtimes write it; each file names the upstream source.

mod built_in;
mod container;
mod continue_token;
mod list_options;
pub mod query;
mod request_info;
mod status;
mod verb;

pub use built_in::is_namespaced;
pub use container::Container;
pub use continue_token::{ContinueRevision, ContinueToken, InvalidContinueToken};
pub use list_options::{Continue, ListOptions, ResourceVersion, ResourceVersionMatch};
pub use request_info::{RequestInfo, Resource};
pub use status::{Status, StatusCause};
pub use verb::Verb;
