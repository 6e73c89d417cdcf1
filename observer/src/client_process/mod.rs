//! Which process of this machine a client is.
//!
//! Two questions to the kernel: which socket has these two addresses (`sock_diag(7)`, at a cost that does not grow with the number of sockets), and
//! which process has that socket (proc(5), by looking). A client in another PID namespace, on another machine, or of another user
//! whose descriptors we may not see, stays unknown. Which container it is in, its cgroups tell. Linux alone answers: on other systems every
//! client is unknown.

#[cfg(target_os = "linux")]
mod cgroups;
mod finder;
#[cfg(target_os = "linux")]
mod lookup;
#[cfg(target_os = "linux")]
mod owners;
#[cfg(target_os = "linux")]
mod socket;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

#[cfg(target_os = "linux")]
pub use cgroups::cgroups;
pub use finder::{Inquiry, ProcessFinder};
