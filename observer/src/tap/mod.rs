//! Taps carry traffic in. They know bytes, not Kubernetes, and nothing of the views.

mod clock;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
pub mod probe;
pub mod proxy;

pub use clock::Clock;
