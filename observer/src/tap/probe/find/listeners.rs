//! Whether the API servers listen on this machine.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;

use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::{Process, all_processes};

/// Describes what is not seen if no process listens on the ports of the API servers.
pub(in crate::tap::probe) fn without_listeners(api_servers: &[SocketAddr]) -> Option<String> {
    let ports: BTreeSet<u16> = api_servers.iter().map(SocketAddr::port).collect();
    if is_any_listened_on(&ports) {
        return None;
    }
    let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
    let ports = ports.join(" or ");
    Some(format!("no process on this machine is seen to listen on port {ports}: no API server's end is seen until one does"))
}

/// Whether any process that watchtap may inspect listens on one of these TCP ports, in any network namespace.
fn is_any_listened_on(ports: &BTreeSet<u16>) -> bool {
    let mut namespaces = BTreeSet::new();
    let processes = all_processes().into_iter().flatten().flatten();
    let in_fresh_namespaces = processes.filter(|process| {
        let namespace = fs::metadata(format!("/proc/{}/ns/net", process.pid())).map(|namespace| namespace.ino());
        namespace.is_ok_and(|namespace| namespaces.insert(namespace))
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
