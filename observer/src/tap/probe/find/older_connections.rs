//! Processes that had connections with an API server before their file was probed.
//!
//! The beginning of these connections is lost, and with it the state that HTTP/2 needs to decode header fields. So the fields
//! themselves are recorded, which costs some microseconds for each field. This is limited to the files of such processes, and ends
//! when the last of these connections is gone. A connection is detected by its socket. Its first bytes would reveal it too late,
//! since the fields of a request come before the bytes of the request.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use super::connected_sockets::{ConnectedSockets, own_sockets};
use super::program_file::FileIdentity;

/// Maximum number of checked processes that are remembered; beyond that, each new one replaces another.
const MAX_PROCESSES: usize = 65_536;

/// Processes whose header fields are recorded.
#[derive(Debug, Default)]
pub(in crate::tap::probe) struct OlderConnections {
    recorded: BTreeMap<u32, Recorded>,
    /// Start times of the processes that were checked.
    checked: BTreeMap<u32, u64>,
}

/// A process with connections from before the probe.
#[derive(Debug)]
struct Recorded {
    files: Vec<FileIdentity>,
    /// The inodes of these connections' sockets.
    sockets: BTreeSet<u64>,
}

impl OlderConnections {
    /// Whether header fields of `files` must be recorded for a process that began at `began`. All of `files` have been probed since
    /// `probed` (clock ticks since boot).
    ///
    /// The process's sockets are checked only once until it is [renewed](Self::renew), since later sockets may be of later
    /// connections.
    pub(in crate::tap::probe) fn begins(
        &mut self,
        process: u32,
        began: u64,
        files: Vec<FileIdentity>,
        probed: u64,
        api_servers: &[SocketAddr],
    ) -> bool {
        if self.checked.contains_key(&process) {
            return false;
        }
        if self.checked.len() >= MAX_PROCESSES {
            self.checked.pop_last();
        }
        self.checked.insert(process, began);
        let sockets = if began <= probed { ConnectedSockets::with(api_servers).of(process) } else { BTreeSet::new() };
        if sockets.is_empty() {
            return false;
        }
        self.recorded.insert(process, Recorded { files, sockets });
        true
    }

    /// The processes that were checked.
    pub(in crate::tap::probe) fn checked(&self) -> Vec<u32> {
        self.checked.keys().copied().collect()
    }

    /// Notes connections of a checked process, by their sockets, which lead to an API server's new address. The connections were not
    /// observed until now. Returns whether the recording of header fields of `files` begins with them; it may have begun before.
    pub(in crate::tap::probe) fn begins_at_new_address(
        &mut self,
        process: u32,
        files: Vec<FileIdentity>,
        sockets: BTreeSet<u64>,
    ) -> bool {
        if let Some(recorded) = self.recorded.get_mut(&process) {
            recorded.sockets.extend(sockets);
            return false;
        }
        self.recorded.insert(process, Recorded { files, sockets });
        true
    }

    /// Whether the PID was checked for another process, which had another start time than `began`. This detects a reused PID even if
    /// the message about the exit of the earlier process was lost.
    pub(in crate::tap::probe) fn is_of_another(&self, process: u32, began: u64) -> bool {
        self.checked.get(&process).is_some_and(|former| *former != began)
    }

    /// Processes whose connections from before the probe are gone: the process has closed all their sockets, or is gone itself.
    pub(in crate::tap::probe) fn over(&self) -> Vec<u32> {
        let is_over =
            |(process, recorded): (&u32, &Recorded)| own_sockets(*process).is_disjoint(&recorded.sockets).then_some(*process);
        self.recorded.iter().filter_map(is_over).collect()
    }

    /// Processes with recorded header fields in a file.
    pub(in crate::tap::probe) fn processes_of(&self, file: FileIdentity) -> Vec<u32> {
        self.recorded.iter().filter_map(|(process, recorded)| recorded.files.contains(&file).then_some(*process)).collect()
    }

    /// Forgets a process that is gone, runs another program, or has no connection from before the probe any more. Returns the files
    /// whose fields no process needs any more. `None` if fields of this process were not recorded.
    pub(in crate::tap::probe) fn forget(&mut self, process: u32) -> Option<Vec<FileIdentity>> {
        let mut gone = self.recorded.remove(&process)?;
        gone.files.retain(|file| !self.recorded.values().any(|recorded| recorded.files.contains(file)));
        Some(gone.files)
    }

    /// Notes that the PID belongs to another process now, or that the process runs another program.
    pub(in crate::tap::probe) fn renew(&mut self, process: u32) {
        self.checked.remove(&process);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::tap::probe::find::start_time::{started, ticks_now};

    const FILE: FileIdentity = FileIdentity { device: 1, inode: 7, born: None };

    #[test]
    fn fields_are_recorded_while_an_older_connection_is_open() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let api_servers = [listener.local_addr().unwrap()];
        let own = std::process::id();
        let began = started(own).unwrap();
        let mut connections = OlderConnections::default();
        assert!(!connections.begins(own, began, vec![FILE], ticks_now(), &api_servers), "it has no connection");

        let connection = TcpStream::connect(api_servers[0]).unwrap();
        assert!(!OlderConnections::default().begins(own, began, vec![FILE], began - 1, &api_servers), "it began later");
        assert!(
            !connections.begins(own, began, vec![FILE], ticks_now(), &api_servers),
            "it may have begun this connection since the check"
        );
        connections.renew(own);
        assert!(connections.begins(own, began, vec![FILE], ticks_now(), &api_servers));
        assert_eq!(connections.over(), [0; 0]);

        let other = TcpStream::connect(api_servers[0]).unwrap();
        drop(listener.accept().unwrap());
        assert_eq!(connections.over(), [0; 0], "the process still has the socket");
        drop(connection);
        assert_eq!(connections.over(), [own], "a connection that began later does not count");
        assert_eq!(connections.forget(own), Some(vec![FILE]));
        assert_eq!(connections.forget(own), None);
        drop(other);
    }

    #[test]
    fn connections_to_a_new_address_count_as_older() {
        let mut connections = OlderConnections::default();
        assert!(!connections.begins(7, 100, vec![FILE], 50, &[]));
        assert_eq!(connections.checked(), [7]);
        assert!(connections.begins_at_new_address(7, vec![FILE], BTreeSet::from([1])));
        assert!(!connections.begins_at_new_address(7, vec![FILE], BTreeSet::from([2])), "its fields are recorded already");
        assert_eq!(connections.recorded[&7].sockets, BTreeSet::from([1, 2]));
        assert_eq!(connections.forget(7), Some(vec![FILE]));
    }

    #[test]
    fn different_start_time_means_a_reused_pid() {
        let mut connections = OlderConnections::default();
        assert!(!connections.is_of_another(7, 100), "it was not checked");
        assert!(!connections.begins(7, 100, vec![FILE], 50, &[]));
        for (began, expected) in [(100, false), (101, true), (99, true)] {
            assert_eq!(connections.is_of_another(7, began), expected, "{began}");
        }
        connections.renew(7);
        assert!(!connections.is_of_another(7, 101));
    }

    #[test]
    fn remembered_processes_are_bounded() {
        let mut connections = OlderConnections::default();
        for process in 0..=u32::try_from(MAX_PROCESSES).unwrap() {
            assert!(!connections.begins(process, 100, vec![FILE], 50, &[]));
        }
        assert_eq!(connections.checked.len(), MAX_PROCESSES);
    }

    #[test]
    fn file_field_recording_stops_with_its_last_process() {
        let mut connections = OlderConnections::default();
        for process in [1, 2] {
            connections.recorded.insert(process, Recorded { files: vec![FILE], sockets: BTreeSet::new() });
        }
        assert_eq!(connections.processes_of(FILE), [1, 2]);
        assert_eq!(connections.forget(1), Some(vec![]));
        assert_eq!(connections.processes_of(FILE), [2]);
        assert_eq!(connections.forget(2), Some(vec![FILE]));
    }
}
