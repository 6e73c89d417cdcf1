//! The sockets of a process that are connected with an API server.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::{FDTarget, Process};

use super::namespace::network_of;
use crate::tap::probe::options::ServerEnds;

/// The sockets that are connected with one of some API servers, at either end, by network namespace.
///
/// The tables of a namespace have the sockets of all its processes, so they are read once for all of them. A connection that opens
/// after the first process of its namespace was looked at may be missing.
#[derive(Debug)]
pub(in crate::tap::probe) struct ConnectedSockets<'a> {
    api_servers: &'a [SocketAddr],
    /// By the inode of the namespace.
    by_namespace: BTreeMap<u64, BTreeSet<u64>>,
}

impl<'a> ConnectedSockets<'a> {
    pub(in crate::tap::probe) const fn with(api_servers: &'a [SocketAddr]) -> Self {
        Self { api_servers, by_namespace: BTreeMap::new() }
    }

    /// The connected sockets of a process, by their inodes. Empty if the process is gone or may not be inspected.
    pub(in crate::tap::probe) fn of(&mut self, process: u32) -> BTreeSet<u64> {
        let own = own_sockets(process);
        let Some(namespace) = network_of(process).filter(|_| !own.is_empty()) else { return BTreeSet::new() };
        let Self { api_servers, by_namespace } = self;
        let connected = by_namespace.entry(namespace).or_insert_with(|| {
            let is_wanted = |entry: &TcpNetEntry| has(api_servers, entry.remote_address) || has(api_servers, entry.local_address);
            established(process, is_wanted)
        });
        own.intersection(connected).copied().collect()
    }
}

/// All sockets that a process has open, by their inodes, whether or not they are connected. This reads no table.
pub(in crate::tap::probe) fn own_sockets(process: u32) -> BTreeSet<u64> {
    let descriptors = opened(process).and_then(|process| process.fd().ok()).into_iter().flatten().flatten();
    descriptors.filter_map(|descriptor| if let FDTarget::Socket(inode) = descriptor.target { Some(inode) } else { None }).collect()
}

/// Whether a process is connected with an API server, at an end at which connections are followed.
pub(in crate::tap::probe) fn is_connected(process: u32, api_servers: &[SocketAddr], server_ends: ServerEnds) -> bool {
    let is_followed = |entry: &TcpNetEntry| match server_ends {
        ServerEnds::Ignored => has(api_servers, entry.remote_address),
        ServerEnds::Added => has(api_servers, entry.remote_address) || has(api_servers, entry.local_address),
        ServerEnds::Alone => has(api_servers, entry.local_address),
    };
    let own = own_sockets(process);
    !own.is_empty() && !established(process, is_followed).is_disjoint(&own)
}

fn has(api_servers: &[SocketAddr], address: SocketAddr) -> bool {
    api_servers.contains(&SocketAddr::new(address.ip().to_canonical(), address.port()))
}

fn opened(process: u32) -> Option<Process> {
    Process::new(i32::try_from(process).ok()?).ok()
}

/// The established sockets that `is_wanted` accepts, of all processes in the network namespace of a process. The tables take
/// milliseconds to read.
fn established(process: u32, is_wanted: impl Fn(&TcpNetEntry) -> bool) -> BTreeSet<u64> {
    let tables = opened(process).map(|process| [process.tcp(), process.tcp6()]);
    let entries = tables.into_iter().flatten().flatten().flatten();
    entries.filter(|entry| entry.state == TcpState::Established && is_wanted(entry)).map(|entry| entry.inode).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn only_a_connection_at_a_followed_end_counts() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let api_servers = [listener.local_addr().unwrap()];
        let ends = [ServerEnds::Ignored, ServerEnds::Added, ServerEnds::Alone];
        let connected = |api_servers: &[SocketAddr]| ends.map(|ends| is_connected(std::process::id(), api_servers, ends));
        assert_eq!(connected(&api_servers), [false; 3], "a listener has no connection");
        let client = TcpStream::connect(api_servers[0]).unwrap();
        let (server, _) = listener.accept().unwrap();
        assert_eq!(connected(&api_servers), [true; 3]);
        assert_eq!(connected(&[]), [false; 3]);
        let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        assert!(!is_connected(other.id(), &api_servers, ServerEnds::Added), "another process has no such descriptor");
        drop(other.stdin.take());
        other.wait().unwrap();
        drop((client, server));
        assert_eq!(connected(&api_servers), [false; 3]);
    }

    #[test]
    fn tables_of_a_namespace_are_read_once_for_all_its_processes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let api_servers = [listener.local_addr().unwrap()];
        let own = std::process::id();
        let (client, opened_before) = (TcpStream::connect(api_servers[0]).unwrap(), listener.accept().unwrap());
        let mut sockets = ConnectedSockets::with(&api_servers);
        let both_ends = sockets.of(own);
        assert_eq!(both_ends.len(), 2);
        let (later, opened_later) = (TcpStream::connect(api_servers[0]).unwrap(), listener.accept().unwrap());
        assert_eq!(sockets.of(own), both_ends, "the table is not read again");
        assert_eq!(ConnectedSockets::with(&api_servers).of(own).len(), 4);
        drop((client, opened_before));
        assert!(sockets.of(own).is_empty(), "the process no longer has them");
        drop((later, opened_later));
    }
}
