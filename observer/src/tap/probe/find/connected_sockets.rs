//! The sockets of a process that are connected with an API server.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::{FDTarget, Process};

use crate::tap::probe::options::ServerEnds;

/// The sockets of a process that are connected with an API server, at either end, by their inodes.
pub(in crate::tap::probe) fn connected_sockets(process: u32, api_servers: &[SocketAddr]) -> BTreeSet<u64> {
    sockets(process, |entry| has(api_servers, entry.remote_address) || has(api_servers, entry.local_address))
}

/// Whether a process is connected with an API server, at an end at which connections are followed.
pub(in crate::tap::probe) fn is_connected(process: u32, api_servers: &[SocketAddr], server_ends: ServerEnds) -> bool {
    let is_followed = |entry: &TcpNetEntry| match server_ends {
        ServerEnds::Ignored => has(api_servers, entry.remote_address),
        ServerEnds::Added => has(api_servers, entry.remote_address) || has(api_servers, entry.local_address),
        ServerEnds::Alone => has(api_servers, entry.local_address),
    };
    !sockets(process, is_followed).is_empty()
}

fn has(api_servers: &[SocketAddr], address: SocketAddr) -> bool {
    api_servers.contains(&SocketAddr::new(address.ip().to_canonical(), address.port()))
}

/// The established sockets of a process that `is_wanted` accepts. The tables have all sockets of its network namespace, and take
/// milliseconds to read, so a process without a socket is excluded first.
fn sockets(process: u32, is_wanted: impl Fn(&TcpNetEntry) -> bool) -> BTreeSet<u64> {
    let Some(process) = i32::try_from(process).ok().and_then(|number| Process::new(number).ok()) else { return BTreeSet::new() };
    let descriptors = process.fd().into_iter().flatten().flatten();
    let own = descriptors.filter_map(|descriptor| if let FDTarget::Socket(inode) = descriptor.target { Some(inode) } else { None });
    let own: BTreeSet<u64> = own.collect();
    if own.is_empty() {
        return own;
    }
    let entries = [process.tcp(), process.tcp6()].into_iter().flatten().flatten();
    let connected = entries.filter(|entry| entry.state == TcpState::Established && is_wanted(entry)).map(|entry| entry.inode);
    connected.filter(|inode| own.contains(inode)).collect()
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
}
