//! The taps, which are the sources of observed traffic: the proxy and the probe. They handle bytes, and depend neither on
//! Kubernetes types nor on the views.

mod clock;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
pub mod probe;
pub mod proxy;

pub use clock::Clock;
