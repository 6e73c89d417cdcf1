//! A Kubernetes cluster of one node with real containers, in namespaces of its own. Begin reading with `running.rs`.

mod build;
mod calls;
mod cgroups;
mod containers;
mod image;
mod isolation;
mod kubectl;
mod leavings;
mod namespace;
mod registry;
mod running;
mod settings;
mod sharing;
mod site;

pub use calls::Call;
pub use containers::InPod;
pub use image::Image;
pub use kubectl::{Followed, Forwarded};
pub use namespace::{Namespace, PodSecurity};
pub use registry::Registry;
pub use running::Node;
pub use sharing::{Alone, Shared};
