//! Which process of this machine a client is.
//!
//! Two questions to the kernel: which socket has these two addresses (`sock_diag(7)`, at a cost that does not grow with the number of sockets), and
//! which process has that socket (proc(5), by looking). A client in another PID namespace, on another machine, or of another user
//! whose descriptors we may not see, stays unknown. Which container it is in, its cgroups tell.

mod cgroups;
mod finder;
mod lookup;
mod owners;
mod socket;

#[cfg(test)]
mod tests;

pub use cgroups::cgroups;
pub use finder::{Inquiry, ProcessFinder};
