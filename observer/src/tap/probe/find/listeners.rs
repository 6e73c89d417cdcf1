//! Whether API servers may listen on this machine.

use std::collections::BTreeSet;

use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::{Process, all_processes};

use super::namespace::network_of;

/// Whether any process that watchtap may inspect listens on one of these TCP ports, in any network namespace. This reads the
/// tables of sockets of all of them, which takes milliseconds each.
pub(crate) fn is_any_listened_on(ports: &BTreeSet<u16>) -> bool {
    let mut namespaces = BTreeSet::new();
    let processes = all_processes().into_iter().flatten().flatten();
    let in_fresh_namespaces = processes.filter(|process| {
        let namespace = u32::try_from(process.pid()).ok().and_then(network_of);
        namespace.is_some_and(|namespace| namespaces.insert(namespace))
    });
    let listens = |entry: TcpNetEntry| entry.state == TcpState::Listen && ports.contains(&entry.local_address.port());
    in_fresh_namespaces.flat_map(|process: Process| [process.tcp(), process.tcp6()]).flatten().flatten().any(listens)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn only_listening_ports_are_found() {
        for loopback in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(loopback).unwrap();
            let port = listener.local_addr().unwrap().port();
            assert!(is_any_listened_on(&BTreeSet::from([0, port])), "{loopback}");
            let connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let connected = connection.local_addr().unwrap().port();
            assert!(!is_any_listened_on(&BTreeSet::from([0, connected])), "a port that is connected from");
        }
    }
}
