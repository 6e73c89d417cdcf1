//! Where the sockets of processes lead, as `/proc` has it.

use std::fs;
use std::net::SocketAddr;

use procfs::net::TcpNetEntry;
use procfs::process::Process;

use super::assembly::{ConnectionEnds, Whereabouts};
use crate::client_process::{identity, socket_inode};

/// Asks `/proc`, once for each connection. A process in another network namespace has its own tables there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sockets;

impl Whereabouts for Sockets {
    fn of(&mut self, process: u32, descriptor: i32) -> Option<ConnectionEnds> {
        let link = fs::read_link(format!("/proc/{process}/fd/{descriptor}")).ok()?;
        let inode = socket_inode(&link)?;
        let process = Process::new(i32::try_from(process).ok()?).ok()?;
        let tables = [process.tcp(), process.tcp6()];
        let TcpNetEntry { local_address, remote_address, .. } =
            tables.into_iter().flatten().flatten().find(|entry| entry.inode == inode)?;
        Some(ConnectionEnds { process: identity(&process), local: canonical(local_address), remote: canonical(remote_address) })
    }
}

/// A socket of both versions has the addresses of IPv4 mapped.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn both_ends_of_a_connection_are_found_for_either_version() {
        for (listens, reaches) in [("127.0.0.1:0", "127.0.0.1"), ("[::]:0", "127.0.0.1"), ("[::1]:0", "[::1]")] {
            let listener = TcpListener::bind(listens).unwrap();
            let port = listener.local_addr().unwrap().port();
            let ours = TcpStream::connect(format!("{reaches}:{port}")).unwrap();
            let (theirs, _address) = listener.accept().unwrap();
            let (local, remote) = (ours.local_addr().unwrap(), ours.peer_addr().unwrap());

            let found = Sockets.of(std::process::id(), ours.as_raw_fd()).unwrap();
            assert_eq!((found.local, found.remote), (local, remote));
            assert_eq!(found.process.map(|process| process.pid), Some(std::process::id()));
            let found = Sockets.of(std::process::id(), theirs.as_raw_fd()).unwrap();
            assert_eq!((found.local, found.remote), (remote, local));
        }
    }

    #[test]
    fn what_is_no_connection_is_not_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let file = fs::File::open("/proc/self/stat").unwrap();
        assert!(Sockets.of(std::process::id(), file.as_raw_fd()).is_none());
        assert!(Sockets.of(std::process::id(), -2).is_none());
        assert!(Sockets.of(u32::MAX, listener.as_raw_fd()).is_none());
    }
}
