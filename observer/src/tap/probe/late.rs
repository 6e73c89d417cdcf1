//! Processes that had connections with an API server before their file was probed.
//!
//! Of these connections the beginning is lost, and with it what HTTP/2 needs to read header fields. So the fields themselves are told, which costs
//! microseconds each: for files of such processes alone, until the last of these connections is gone. That a connection is there is seen by its
//! socket: its first bytes would tell it too late, as the fields of a request come before them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use procfs::net::TcpState;
use procfs::process::{FDTarget, Process};
use rustix::time::{ClockId, clock_gettime};

use super::program_file::FileIdentity;

/// Processes that are remembered as looked at; beyond that all are looked at once more.
const MAX_PROCESSES: usize = 65_536;

/// Processes whose header fields are told.
#[derive(Debug, Default)]
pub(super) struct LateProcesses {
    told: BTreeMap<u32, Late>,
    looked_at: BTreeSet<u32>,
}

/// A process with connections from before.
#[derive(Debug)]
struct Late {
    files: Vec<FileIdentity>,
    /// The sockets of these connections, by inode.
    sockets: BTreeSet<u64>,
}

impl LateProcesses {
    /// Whether a process is to have the header fields told of `files`, all of which are probed since `probed` (ticks of the machine's clock,
    /// [`now`]). Each process is asked about once.
    pub(super) fn begins(&mut self, process: u32, files: Vec<FileIdentity>, probed: u64, api_servers: &[SocketAddr]) -> bool {
        if self.looked_at.contains(&process) {
            return false;
        }
        if self.looked_at.len() >= MAX_PROCESSES {
            self.looked_at.clear();
        }
        self.looked_at.insert(process);
        let sockets = if was_there(process, probed) { sockets(process, api_servers) } else { BTreeSet::new() };
        if sockets.is_empty() {
            return false;
        }
        self.told.insert(process, Late { files, sockets });
        true
    }

    /// Processes whose connections from before are gone by now.
    pub(super) fn over(&self, api_servers: &[SocketAddr]) -> Vec<u32> {
        let is_over =
            |(process, late): (&u32, &Late)| sockets(*process, api_servers).is_disjoint(&late.sockets).then_some(*process);
        self.told.iter().filter_map(is_over).collect()
    }

    /// A process is gone, or runs another program, or its connections from before are. Files that no process needs told any more; nothing where its fields
    /// were not told.
    pub(super) fn forget(&mut self, process: u32) -> Option<Vec<FileIdentity>> {
        let mut gone = self.told.remove(&process)?;
        gone.files.retain(|file| !self.told.values().any(|late| late.files.contains(file)));
        Some(gone.files)
    }

    /// The number of a process may be another process's now.
    pub(super) fn renew(&mut self, process: u32) {
        self.looked_at.remove(&process);
    }

    /// The number of any process may be.
    pub(super) fn renew_all(&mut self) {
        self.looked_at.clear();
    }
}

/// Ticks since the machine was started, as proc(5) counts them.
pub(super) fn now() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    let ticks = procfs::ticks_per_second();
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(ticks).saturating_add(rest.saturating_mul(ticks) / 1_000_000_000)
}

fn was_there(process: u32, then: u64) -> bool {
    let stat = i32::try_from(process).ok().and_then(|number| Process::new(number).ok()?.stat().ok());
    stat.is_some_and(|stat| stat.starttime <= then)
}

/// The sockets of a process that are connected with an API server, on either side.
fn sockets(process: u32, api_servers: &[SocketAddr]) -> BTreeSet<u64> {
    let Some(process) = i32::try_from(process).ok().and_then(|number| Process::new(number).ok()) else { return BTreeSet::new() };
    let is_api_server = |address: SocketAddr| api_servers.contains(&SocketAddr::new(address.ip().to_canonical(), address.port()));
    let tables = [process.tcp(), process.tcp6()];
    let connected: BTreeSet<u64> = tables
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.state == TcpState::Established)
        .filter(|entry| is_api_server(entry.remote_address) || is_api_server(entry.local_address))
        .map(|entry| entry.inode)
        .collect();
    if connected.is_empty() {
        return connected;
    }
    let descriptors = process.fd().into_iter().flatten().flatten();
    let own = descriptors.filter_map(|descriptor| if let FDTarget::Socket(inode) = descriptor.target { Some(inode) } else { None });
    own.filter(|inode| connected.contains(inode)).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    const FILE: FileIdentity = FileIdentity { device: 1, inode: 7, born: None };

    #[test]
    fn process_is_late_while_a_connection_from_before_is_open() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let api_servers = [listener.local_addr().unwrap()];
        let own = std::process::id();
        let mut late = LateProcesses::default();
        assert!(!late.begins(own, vec![FILE], now(), &api_servers), "it has no connection");
        assert!(!LateProcesses::default().begins(own, vec![FILE], 0, &api_servers), "it began later");

        let connection = TcpStream::connect(api_servers[0]).unwrap();
        assert!(!late.begins(own, vec![FILE], now(), &api_servers), "it was asked about already");
        late.renew(own);
        assert!(late.begins(own, vec![FILE], now(), &api_servers));
        assert_eq!(late.over(&api_servers), [0; 0]);

        let other = TcpStream::connect(api_servers[0]).unwrap();
        drop(connection);
        drop(listener.accept().unwrap());
        assert_eq!(late.over(&api_servers), [own], "a connection that began later does not count");
        assert_eq!(late.forget(own), Some(vec![FILE]));
        assert_eq!(late.forget(own), None);
        drop(other);
    }

    #[test]
    fn file_is_left_when_its_last_process_is_forgotten() {
        let mut late = LateProcesses::default();
        for process in [1, 2] {
            late.told.insert(process, Late { files: vec![FILE], sockets: BTreeSet::new() });
        }
        assert_eq!(late.forget(1), Some(vec![]));
        assert_eq!(late.forget(2), Some(vec![FILE]));
    }
}
