//! Finds the local process of a client.
//!
//! A lookup has two steps. `sock_diag(7)` finds the socket between the two addresses of the connection, at a cost that does not
//! grow with the number of sockets. A scan of `/proc` finds the process that has this socket open. A client stays unknown if it is
//! in another PID namespace, on another machine, or owned by a user whose descriptors we may not read. The cgroups of the process
//! name its container or its unit. Only Linux is supported: on other systems every client is unknown.

mod finder;
#[cfg(target_os = "linux")]
mod lookup;
#[cfg(target_os = "linux")]
mod owners;
#[cfg(target_os = "linux")]
mod process_file;
#[cfg(target_os = "linux")]
mod share;
#[cfg(target_os = "linux")]
mod socket;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

pub use finder::{Inquiry, ProcessFinder};
#[cfg(target_os = "linux")]
pub use process_file::{cgroups, mounts};
#[cfg(all(target_os = "linux", feature = "ebpf"))]
pub(crate) use share::Share;
