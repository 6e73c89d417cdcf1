//! Taps are the sources of traffic. They handle bytes, and know neither Kubernetes nor the views.

mod clock;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
pub mod probe;
pub mod proxy;

pub use clock::Clock;
