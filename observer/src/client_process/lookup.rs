//! Finds the process at the client's end of a connection.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use observer_core::observation::{CgroupOwner, Process};

use super::owners::Owners;
use super::process_file::cgroups;
use super::share::Share;
use super::socket::SocketDiagnosis;

/// Number of recently found client processes whose descriptors are searched first for a new socket. After a restart of the API
/// server all clients reconnect at once, and some disconnect before they are found. That must not cause a scan of all processes.
const REGULARS: usize = 256;
/// The part of the time that unsuccessful scans of all processes take at most.
const SHARE: Share = Share::TWENTIETH;
/// The same limit if the socket was closed during the scan. It is higher, because the scan for the next socket may succeed.
const SHARE_FOR_GONE: Share = Share::HALF;

/// Finds the processes of clients by asking the kernel. A lookup of a known client takes about 10 µs. It takes about 1 ms for the
/// most recently started process, and a few ms for others.
#[derive(Default)]
pub(super) struct ClientProcesses {
    diagnosis: Option<SocketDiagnosis>,
    owners: Owners,
    regulars: VecDeque<u32>,
    /// Earliest time of the next scan of all processes, set by an unsuccessful one.
    next_look: Option<Instant>,
}

impl ClientProcesses {
    /// If the kernel offers no socket diagnosis, every client is unknown.
    pub(super) fn new() -> Self {
        Self { diagnosis: SocketDiagnosis::new().ok(), ..Self::default() }
    }

    /// Finds the process that is connected from `client` to `listener`.
    pub(super) fn of(&mut self, client: SocketAddr, listener: SocketAddr) -> Option<Process> {
        let inode = self.inode(client, listener)?;
        let process = self.among_regulars(inode).or_else(|| self.among_all(inode, client, listener))?;
        self.regulars.retain(|pid| *pid != process.pid);
        self.regulars.truncate(REGULARS - 1);
        self.regulars.push_front(process.pid);
        let owner = cgroups(process.pid, process.started).and_then(|content| CgroupOwner::of_process(&content));
        Some(process.owned_by(owner))
    }

    fn inode(&mut self, client: SocketAddr, listener: SocketAddr) -> Option<u64> {
        self.diagnosis.as_mut()?.inode(client, listener).ok()?
    }

    fn among_regulars(&mut self, inode: u64) -> Option<Process> {
        if let Some(process) = self.owners.of(inode) {
            return Some(process.clone());
        }
        for pid in self.regulars.clone() {
            self.owners.look_at(pid, inode);
            if let Some(process) = self.owners.of(inode) {
                return Some(process.clone());
            }
        }
        None
    }

    fn among_all(&mut self, inode: u64, client: SocketAddr, listener: SocketAddr) -> Option<Process> {
        let began = Instant::now();
        if self.next_look.is_some_and(|next| began < next) {
            return None;
        }
        self.owners.look_for(inode);
        let found = self.owners.of(inode).cloned();
        if found.is_none() {
            let share = if self.inode(client, listener) == Some(inode) { SHARE } else { SHARE_FOR_GONE };
            self.next_look = began.checked_add(share.period(began.elapsed()).max(Duration::from_millis(1)));
        }
        found
    }
}

impl std::fmt::Debug for ClientProcesses {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ClientProcesses").field("regulars", &self.regulars).finish_non_exhaustive()
    }
}
