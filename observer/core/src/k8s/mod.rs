//! The words of the Kubernetes API: verbs, resources, list options, continue tokens, `Status`.
//!
//! Everything is read from a request line or a body exactly as kube-apiserver does it; each file names the upstream source.

mod continue_token;
mod list_options;
pub mod query;
mod request_info;
mod status;
mod verb;

pub use continue_token::{ContinueRevision, ContinueToken, InvalidContinueToken};
pub use list_options::{Continue, ListOptions, ResourceVersion, ResourceVersionMatch};
pub use request_info::{RequestInfo, Resource};
pub use status::{Status, StatusCause};
pub use verb::Verb;
