//! Tests of lookups with real sockets and processes.

use std::io::{BufRead as _, BufReader};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use observer_core::observation::Process;

use super::lookup::ClientProcesses;
use super::{Inquiry, ProcessFinder, cgroups};

/// Starts a process connected to `listener`; returns it, its address and the accepted stream.
fn connected(listener: &TcpListener) -> (Child, SocketAddr, TcpStream) {
    let port = listener.local_addr().unwrap().port();
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo ready; read -r _ <&3");
    let mut child = Command::new("bash").args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
    let (stream, address) = listener.accept().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, address, stream)
}

#[test]
fn processes_of_two_local_clients_are_found() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut processes = ClientProcesses::new();
    let (mut child, address, stream) = connected(&listener);
    let process = processes.of(address, listener.local_addr().unwrap()).unwrap();
    assert_eq!((process.pid, process.name.as_str()), (child.id(), "bash"));
    assert!(process.started > 0);
    assert_eq!(processes.of(address, listener.local_addr().unwrap()), Some(process.clone()));

    let (mut other, elsewhere, other_stream) = connected(&listener);
    // A scan of all processes may not be due yet, so this repeats until it is.
    let found = (0..10_000).find_map(|_| processes.of(elsewhere, listener.local_addr().unwrap())).unwrap();
    assert_eq!(found.pid, other.id());
    drop((stream, other_stream));
    assert!(child.wait().is_ok() && other.wait().is_ok());
}

#[test]
fn reconnecting_clients_are_found_after_an_unsuccessful_lookup() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut processes = ClientProcesses::new();
    let script = format!("{0}; read -r _ <&3; {0}; read -r _ <&3", format!("exec 3<>/dev/tcp/127.0.0.1/{}", address.port()));
    let mut clients: Vec<_> = (0..40)
        .map(|_| {
            let child = Command::new("bash").args(["-c", &script]).spawn().unwrap();
            let (stream, client) = listener.accept().unwrap();
            // A scan of all processes may not be due yet, so this repeats until it is.
            let process = (0..10_000).find_map(|_| processes.of(client, address)).unwrap();
            assert_eq!(process.pid, child.id());
            (child, stream)
        })
        .collect();

    let nobody = TcpStream::connect(address).unwrap();
    let _ours = listener.accept().unwrap();
    assert_eq!(processes.of(nobody.local_addr().unwrap(), address), None);
    for (child, stream) in &mut clients {
        stream.shutdown(Shutdown::Both).unwrap();
        let (again, client) = listener.accept().unwrap();
        assert_eq!(processes.of(client, address).map(|process| process.pid), Some(child.id()));
        drop(again);
        assert!(child.wait().is_ok());
    }
}

#[test]
fn remote_client_process_is_unknown() {
    let mut processes = ClientProcesses::new();
    let nobody: SocketAddr = "192.0.2.1:4711".parse().unwrap();
    let listener: SocketAddr = "127.0.0.1:6443".parse().unwrap();
    assert_eq!(processes.of(nobody, listener), None);
    assert_eq!(processes.of("[2001:db8::1]:1".parse().unwrap(), "[::1]:6443".parse().unwrap()), None);
}

#[test]
fn cgroups_of_a_reused_pid_are_not_returned() {
    let own = procfs::process::Process::myself().unwrap();
    let (pid, started) = (std::process::id(), own.stat().unwrap().starttime);
    assert_eq!(cgroups(pid, started), Some(std::fs::read_to_string("/proc/self/cgroup").unwrap()));
    assert_eq!(cgroups(pid, started + 1), None);
    assert_eq!(cgroups(u32::MAX, started), None);
}

#[test]
fn own_sockets_are_not_clients() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut processes = ClientProcesses::new();
    assert_eq!(processes.of(stream.local_addr().unwrap(), listener.local_addr().unwrap()), None);
}

#[tokio::test]
async fn process_finder_answers_in_the_background() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let finder = ProcessFinder::start().unwrap();
    let (mut child, address, stream) = connected(&listener);
    let inquiry = finder.ask(address, listener.local_addr().unwrap());
    assert_eq!(inquiry.answer(Duration::from_secs(30)).await.unwrap().pid, child.id());
    drop(stream);
    assert!(child.wait().is_ok());
}

#[tokio::test]
async fn slow_lookup_delays_only_callers_that_wait() {
    let (answers, lookup) = std::sync::mpsc::channel();
    let finder = ProcessFinder::asking(move |_, _| lookup.recv().ok()).unwrap();
    let nobody: SocketAddr = "192.0.2.1:4711".parse().unwrap();
    let inquiry = finder.ask(nobody, nobody).answered().unwrap_err();
    let given_up = finder.ask(nobody, nobody);
    assert_eq!(given_up.answer(Duration::ZERO).await, None, "too late");

    let process = |pid| Process::new(pid, 1, "controller".to_owned());
    let last = finder.ask(nobody, nobody);
    answers.send(process(1)).unwrap();
    answers.send(process(2)).unwrap();
    assert_eq!(inquiry.answer(Duration::from_secs(30)).await, Some(process(1)));
    assert_eq!(last.answer(Duration::from_secs(30)).await, Some(process(2)), "who gave up is not looked for");
}

#[tokio::test]
async fn default_inquiry_is_unknown_immediately() {
    assert_eq!(Inquiry::default().answered().unwrap(), None);
    assert_eq!(Inquiry::default().answer(Duration::from_hours(1)).await, None);
}

#[tokio::test]
async fn inquiries_of_an_overloaded_finder_are_unknown() {
    let finder = ProcessFinder::start().unwrap();
    let nobody: SocketAddr = "192.0.2.1:4711".parse().unwrap();
    let inquiries: Vec<Inquiry> = (0..100_000).map(|_| finder.ask(nobody, nobody)).collect();
    drop(finder);
    for inquiry in inquiries {
        assert_eq!(inquiry.answer(Duration::from_hours(1)).await, None);
    }
}
