//! Tests of unusual lifetimes of processes: thread-group leaders that exit early, and processes that execute several programs one
//! after another.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use observer_core::http::Start;
use observer_demo::{DemoConfig, DemoServer};
use observer_tests::patient;
use watchtap::intake::TapEvent;

use super::clients::{of_clients, python};
use super::probe_output::{ProbeOutput, RunningProbe};

/// Limit of every wait.
const LIMIT: Duration = Duration::from_mins(1);

/// Number of programs that run one after the other in one process.
const RUNS: usize = 4;

/// Sends one request with its TLS in memory, so that OpenSSL has no socket number, and prints the address of its connection. Then
/// it executes itself again without closing the connection. The `SSL *` follows the head of Python's object and the socket
/// (`PySSLSocket` of `CPython`'s `Modules/_ssl.c`, v3.11).
const AGAIN: &str = "
import ctypes, os, socket, ssl, sys
host, authority, token, runs = sys.argv[1:]
name, port = host.rsplit(':', 1)
received, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
tls = ssl.create_default_context(cadata=authority).wrap_bio(received, to_send, server_hostname=name)
stream = socket.create_connection((name, int(port)))
def when_it_can(act):
    while True:
        try:
            result = act()
            stream.sendall(to_send.read())
            return result
        except ssl.SSLWantReadError:
            stream.sendall(to_send.read())
            received.write(stream.recv(1 << 16))
when_it_can(tls.do_handshake)
when_it_can(lambda: tls.write(f'GET /version HTTP/1.1\\r\\nHost: it\\r\\nAuthorization: Bearer {token}\\r\\n\\r\\n'.encode()))
when_it_can(lambda: tls.read(1 << 14))
print(ctypes.c_void_p.from_address(id(tls._sslobj) + 24).value, flush=True)
if int(runs) > 1:
    os.execv(sys.executable, [*sys.orig_argv[:-1], str(int(runs) - 1)])
";

/// Sends one request per line of its input, on a second thread. After the first request the thread-group leader ends itself by
/// exit(2), whose number on x86-64 is 60.
const LEFT_BY_ITS_LEADER: &str = "
import ctypes, http.client, os, ssl, sys, threading
host, authority, token = sys.argv[1:]
def ask():
    connection = http.client.HTTPSConnection(host, context=ssl.create_default_context(cadata=authority))
    for line in sys.stdin:
        connection.request('GET', '/version', headers={'Authorization': 'Bearer ' + token})
        connection.getresponse().read()
        print('asked', flush=True)
        has_asked.set()
    os._exit(0)
has_asked = threading.Event()
threading.Thread(target=ask).start()
has_asked.wait()
ctypes.CDLL(None).syscall(60, 0)
";

#[test]
fn process_continues_when_the_leader_of_its_thread_group_has_ended() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let probe = RunningProbe::start(&of_clients(server.address()));
    let arguments = [server.address().to_string(), server.ca_pem().to_owned(), server.token().to_owned()];
    let mut client = python(LEFT_BY_ITS_LEADER, &arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (client.stdin.take().unwrap(), BufReader::new(client.stdout.take().unwrap()));
    let mut ask = || {
        writeln!(stdin).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "asked\n");
    };
    ask();
    let begun = Instant::now();
    while !is_zombie(client.id()) {
        assert!(begun.elapsed() < patient(LIMIT), "its leader does not end");
        std::thread::sleep(Duration::from_millis(1));
    }
    ask();
    let output = probe.finish();
    drop(stdin);
    assert!(client.wait().unwrap().success());

    assert_eq!(output.opened().len(), 1, "{output:?}");
    let is_end = |event: &TapEvent| matches!(event, TapEvent::Ended { .. });
    assert!(!output.events.iter().any(|(_, event)| is_end(event)), "{output:?}");
    let [.., (_, TapEvent::NotObserved { .. }), (_, TapEvent::Closed { .. })] = output.events.as_slice() else {
        panic!("{output:?}")
    };
}

#[test]
fn exec_in_the_same_process_starts_a_new_connection() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let mut stdout = Vec::new();
    let output = ProbeOutput::during(&of_clients(server.address()), || {
        // Without address randomisation the same program has its objects at the same addresses.
        let mut client = Command::new("setarch");
        client.args(["--addr-no-randomize", "python3", "-c", AGAIN]).env("PYTHONHASHSEED", "0");
        client.args([&server.address().to_string(), server.ca_pem(), server.token(), &RUNS.to_string()]);
        let output = client.stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success());
        stdout = output.stdout;
    });
    let addresses: Vec<&str> = std::str::from_utf8(&stdout).unwrap().lines().collect();
    assert_eq!(addresses.len(), RUNS, "{addresses:?}");
    let others: BTreeSet<&&str> = addresses.iter().collect();
    assert!(others.len() < RUNS, "not tried: no address came again: {addresses:?}");
    let opened = output.opened();
    assert_eq!(opened.len(), RUNS, "{opened:?}");
    assert!(opened.iter().all(|info| info.start == Start::Beginning), "{opened:?}");
}

/// Whether the leader of a thread group has exited while other threads run, or the process has not been reaped yet (`State` of
/// proc(5)).
fn is_zombie(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    status.lines().any(|line| line.starts_with("State:\tZ"))
}
