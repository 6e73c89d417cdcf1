//! Processes that had connections with an API server before their file was probed.
//!
//! The beginning of these connections is lost, and with it the state that HTTP/2 needs to decode header fields. So the fields
//! themselves are recorded, which costs microseconds each. This is limited to files of such processes, until the last of these
//! connections is gone. A connection is detected by its socket: its first bytes would show it too late, since the fields of a
//! request come before them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use procfs::net::TcpState;
use procfs::process::{FDTarget, Process};
use rustix::time::{ClockId, clock_gettime};

use super::program_file::FileIdentity;

/// Most processes remembered as checked; beyond that, each new one replaces another.
const MAX_PROCESSES: usize = 65_536;

/// Processes whose header fields are recorded.
#[derive(Debug, Default)]
pub(in crate::tap::probe) struct LateProcesses {
    told: BTreeMap<u32, Late>,
    /// Start times of the processes that were checked.
    looked_at: BTreeMap<u32, u64>,
}

/// A process with connections from before the probe.
#[derive(Debug)]
struct Late {
    files: Vec<FileIdentity>,
    /// The inodes of these connections' sockets.
    sockets: BTreeSet<u64>,
}

impl LateProcesses {
    /// Whether header fields of `files` must be recorded for a process that began at `began`. All of `files` have been probed since
    /// `probed` (clock ticks since boot, [`now`]).
    ///
    /// Its sockets are checked only once until it is [renewed](Self::renew), since later sockets may be of later connections.
    pub(in crate::tap::probe) fn begins(
        &mut self,
        process: u32,
        began: u64,
        files: Vec<FileIdentity>,
        probed: u64,
        api_servers: &[SocketAddr],
    ) -> bool {
        if self.looked_at.contains_key(&process) {
            return false;
        }
        if self.looked_at.len() >= MAX_PROCESSES {
            self.looked_at.pop_last();
        }
        self.looked_at.insert(process, began);
        let sockets = if began <= probed { sockets(process, api_servers) } else { BTreeSet::new() };
        if sockets.is_empty() {
            return false;
        }
        self.told.insert(process, Late { files, sockets });
        true
    }

    /// Whether the PID was checked for another process, with a start time other than `began`. This catches reuse that no order
    /// reported.
    pub(in crate::tap::probe) fn is_of_another(&self, process: u32, began: u64) -> bool {
        self.looked_at.get(&process).is_some_and(|former| *former != began)
    }

    /// Processes whose connections from before the probe are gone.
    pub(in crate::tap::probe) fn over(&self, api_servers: &[SocketAddr]) -> Vec<u32> {
        let is_over =
            |(process, late): (&u32, &Late)| sockets(*process, api_servers).is_disjoint(&late.sockets).then_some(*process);
        self.told.iter().filter_map(is_over).collect()
    }

    /// Processes with recorded header fields in a file.
    pub(in crate::tap::probe) fn told_of(&self, file: FileIdentity) -> Vec<u32> {
        self.told.iter().filter_map(|(process, late)| late.files.contains(&file).then_some(*process)).collect()
    }

    /// Forgets a process that is gone, runs another program, or has lost its connections from before. Returns the files whose
    /// fields no process needs any more; `None` if its fields were not recorded.
    pub(in crate::tap::probe) fn forget(&mut self, process: u32) -> Option<Vec<FileIdentity>> {
        let mut gone = self.told.remove(&process)?;
        gone.files.retain(|file| !self.told.values().any(|late| late.files.contains(file)));
        Some(gone.files)
    }

    /// The PID belongs to another process now, or the process runs another program.
    pub(in crate::tap::probe) fn renew(&mut self, process: u32) {
        self.looked_at.remove(&process);
    }
}

/// Clock ticks since boot, as in proc(5).
pub(in crate::tap::probe) fn now() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    let ticks = procfs::ticks_per_second();
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(ticks).saturating_add(rest.saturating_mul(ticks) / 1_000_000_000)
}

/// The start time of a process, as [`now`]; `None` if it is gone.
pub(in crate::tap::probe) fn began(process: u32) -> Option<u64> {
    Some(Process::new(i32::try_from(process).ok()?).ok()?.stat().ok()?.starttime)
}

/// The sockets of a process that are connected with an API server, at either end.
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
        let began = began(own).unwrap();
        let mut late = LateProcesses::default();
        assert!(!late.begins(own, began, vec![FILE], now(), &api_servers), "it has no connection");

        let connection = TcpStream::connect(api_servers[0]).unwrap();
        assert!(!LateProcesses::default().begins(own, began, vec![FILE], began - 1, &api_servers), "it began later");
        assert!(
            !late.begins(own, began, vec![FILE], now(), &api_servers),
            "it may have begun this connection since it was asked about"
        );
        late.renew(own);
        assert!(late.begins(own, began, vec![FILE], now(), &api_servers));
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
    fn number_is_of_another_process_where_that_began_at_another_time() {
        let mut late = LateProcesses::default();
        assert!(!late.is_of_another(7, 100), "nobody asked about it");
        assert!(!late.begins(7, 100, vec![FILE], 50, &[]));
        for (began, expected) in [(100, false), (101, true), (99, true)] {
            assert_eq!(late.is_of_another(7, began), expected, "{began}");
        }
        late.renew(7);
        assert!(!late.is_of_another(7, 101));
    }

    #[test]
    fn processes_that_are_remembered_are_bounded() {
        let mut late = LateProcesses::default();
        for process in 0..=u32::try_from(MAX_PROCESSES).unwrap() {
            assert!(!late.begins(process, 100, vec![FILE], 50, &[]));
        }
        assert_eq!(late.looked_at.len(), MAX_PROCESSES);
    }

    #[test]
    fn file_is_left_when_its_last_process_is_forgotten() {
        let mut late = LateProcesses::default();
        for process in [1, 2] {
            late.told.insert(process, Late { files: vec![FILE], sockets: BTreeSet::new() });
        }
        assert_eq!(late.told_of(FILE), [1, 2]);
        assert_eq!(late.forget(1), Some(vec![]));
        assert_eq!(late.told_of(FILE), [2]);
        assert_eq!(late.forget(2), Some(vec![FILE]));
    }
}
