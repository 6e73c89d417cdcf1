//! Finds the local process of a client.
//!
//! It asks the kernel two questions. `sock_diag(7)` finds the socket with these two addresses, at a cost that does not grow with
//! the number of sockets. proc(5) finds the process that has the socket, by scanning. A client stays unknown if it is in another
//! PID namespace, on another machine, or owned by a user whose descriptors we may not read. The cgroups of the process name its
//! container. Only Linux is supported: on other systems every client is unknown.

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
