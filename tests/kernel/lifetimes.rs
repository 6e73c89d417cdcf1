//! How long a process lives, and what it is then.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use watchtap::demo::{DemoConfig, DemoServer};
use watchtap::intake::TapEvent;

use super::clients::{of_clients, python};
use super::told::Hearing;

/// So long is waited for what must come.
const PATIENCE: Duration = Duration::from_mins(1);

/// Asks once for each line of its input, by a thread that the leader of its thread group leaves alone once it has asked: that ends by exit(2), whose number on x86-64 is 60.
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
fn process_lives_on_when_the_leader_of_its_thread_group_has_ended() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let hearing = Hearing::start(&of_clients(server.address()));
    let arguments = [server.address().to_string(), server.ca_pem().to_owned(), server.token().to_owned()];
    let mut client = python(LEFT_BY_ITS_LEADER, &arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut said) = (client.stdin.take().unwrap(), BufReader::new(client.stdout.take().unwrap()));
    let mut ask = || {
        writeln!(stdin).unwrap();
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert_eq!(line, "asked\n");
    };
    ask();
    let begun = Instant::now();
    while !is_zombie(client.id()) {
        assert!(begun.elapsed() < PATIENCE, "its leader does not end");
        std::thread::sleep(Duration::from_millis(1));
    }
    ask();
    let told = hearing.finish();
    drop(stdin);
    assert!(client.wait().unwrap().success());

    assert_eq!(told.opened().len(), 1, "{told:?}");
    let is_end = |event: &TapEvent| matches!(event, TapEvent::Ended { .. });
    assert!(!told.events.iter().any(|(_, event)| is_end(event)), "{told:?}");
    let [.., (_, TapEvent::OutOfSight { .. }), (_, TapEvent::Closed { .. })] = told.events.as_slice() else { panic!("{told:?}") };
}

/// Whether the leader of a thread group has ended and others have not, or nobody has asked for its end yet (`State` of proc(5)).
fn is_zombie(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    status.lines().any(|line| line.starts_with("State:\tZ"))
}
