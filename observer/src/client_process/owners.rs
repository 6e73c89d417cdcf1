//! Finds the process that has a socket open, by scanning the descriptors of processes in `/proc`.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use observer_core::observation;
use procfs::process::Process;

/// Maximum number of sockets remembered. A full table is cleared.
const MAX_SOCKETS: usize = 1_024;

/// The sockets found by scans, and the processes that have them open.
#[derive(Debug, Default)]
pub(super) struct Owners {
    by_inode: HashMap<u64, observation::Process>,
}

impl Owners {
    pub(super) fn of(&self, inode: u64) -> Option<&observation::Process> {
        self.by_inode.get(&inode)
    }

    /// Scans all processes until one has the socket `inode`, in descending order of PID, since an unknown client is usually new.
    pub(super) fn look_for(&mut self, inode: u64) {
        let mut numbers: Vec<u32> = fs::read_dir("/proc").into_iter().flatten().filter_map(number).collect();
        numbers.sort_unstable_by_key(|pid| Reverse(*pid));
        numbers.retain(|pid| *pid != std::process::id());
        for pid in numbers {
            self.look_at(pid, inode);
            if self.by_inode.contains_key(&inode) {
                return;
            }
        }
    }

    /// Scans the descriptors of one process up to the socket `inode`, in descending order, since the wanted socket is new.
    /// Remembered sockets of other processes stay. A process that ends meanwhile, or that we may not inspect, is skipped.
    pub(super) fn look_at(&mut self, pid: u32, inode: u64) {
        if let Some(process) = i32::try_from(pid).ok().and_then(|pid| Process::new(pid).ok()) {
            self.note(&process, inode);
        }
    }

    fn note(&mut self, process: &Process, wanted: u64) {
        let folder = format!("/proc/{}/fd", process.pid());
        let mut descriptors: Vec<u32> = fs::read_dir(&folder).into_iter().flatten().filter_map(number).collect();
        descriptors.sort_unstable_by_key(|descriptor| Reverse(*descriptor));
        let mut known = None;
        for descriptor in descriptors {
            let Some(inode) = fs::read_link(format!("{folder}/{descriptor}")).ok().and_then(|link| socket_inode(&link)) else {
                continue;
            };
            if known.is_none() {
                known = identity(process);
            }
            if let Some(process) = &known {
                if self.by_inode.len() >= MAX_SOCKETS {
                    self.by_inode.clear();
                }
                self.by_inode.insert(inode, process.clone());
            }
            if inode == wanted {
                return;
            }
        }
    }
}

/// The inode in a descriptor's link, as proc(5) writes it: `socket:[4711]`.
fn socket_inode(link: &Path) -> Option<u64> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The name of a `/proc` entry as a number: a PID or a descriptor.
fn number(entry: io::Result<DirEntry>) -> Option<u32> {
    entry.ok()?.file_name().to_str()?.parse().ok()
}

/// The identity of a process, without the owner of its cgroup; `None` if it is gone.
fn identity(process: &Process) -> Option<observation::Process> {
    let stat = process.stat().ok()?;
    Some(observation::Process::new(u32::try_from(stat.pid).ok()?, stat.starttime, stat.comm))
}
