//! The memory limit of this process's cgroup. The kernel kills a process that needs more.
//!
//! It is read once. A limit that changes later, as by a resize of a pod in place, is not followed. The kernel's documentation decides:
//! `Documentation/admin-guide/cgroup-v2.rst` and `cgroup-v1/memory.rst` (Linux 6.12).

mod cgroup_folders;
mod reading;

#[cfg(test)]
mod tests;

pub(crate) use reading::{MemoryLimit, NoMemoryLimit, of_this_process};
