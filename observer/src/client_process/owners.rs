//! Which process has a socket.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::io;

use observer_core::observation;
use procfs::process::{FDTarget, Process};

/// Sockets that are remembered. A machine may have more; then some clients stay unknown.
const MAX_SOCKETS: usize = 65_536;

/// The processes that have sockets, as of the last look.
#[derive(Debug, Default)]
pub(super) struct Owners {
    by_inode: HashMap<u64, observation::Process>,
}

impl Owners {
    pub(super) fn of(&self, inode: u64) -> Option<&observation::Process> {
        self.by_inode.get(&inode)
    }

    /// Looks at processes until one has `inode`: at those of the highest numbers first, since a client that is not known yet is most often new.
    pub(super) fn look_for(&mut self, inode: u64) {
        if self.by_inode.len() >= MAX_SOCKETS {
            self.by_inode.clear();
        }
        let mut numbers: Vec<u32> = fs::read_dir("/proc").into_iter().flatten().filter_map(number).collect();
        numbers.sort_unstable_by_key(|pid| Reverse(*pid));
        numbers.retain(|pid| *pid != std::process::id());
        for pid in numbers {
            self.look_at(pid);
            if self.by_inode.contains_key(&inode) {
                return;
            }
        }
    }

    /// Looks at one process; what was noted of others stays. One that ends meanwhile, or may not be looked at, is left out.
    pub(super) fn look_at(&mut self, pid: u32) {
        if let Some(process) = i32::try_from(pid).ok().and_then(|pid| Process::new(pid).ok()) {
            self.note(&process);
        }
    }

    fn note(&mut self, process: &Process) {
        let Ok(descriptors) = process.fd() else { return };
        let mut known = None;
        for descriptor in descriptors.flatten() {
            let FDTarget::Socket(inode) = descriptor.target else { continue };
            if known.is_none() {
                known = identity(process);
            }
            if let Some(process) = &known
                && self.by_inode.len() < MAX_SOCKETS
            {
                self.by_inode.insert(inode, process.clone());
            }
        }
    }
}

/// The number of the process that a folder of `/proc` is about.
fn number(entry: io::Result<DirEntry>) -> Option<u32> {
    entry.ok()?.file_name().to_str()?.parse().ok()
}

fn identity(process: &Process) -> Option<observation::Process> {
    let stat = process.stat().ok()?;
    Some(observation::Process { pid: u32::try_from(stat.pid).ok()?, started: stat.starttime, name: stat.comm })
}
