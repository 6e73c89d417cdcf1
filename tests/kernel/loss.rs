//! Tests with fast writers that the bytes seen by the probe and those reported as missed are together all bytes.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use observer_core::http::Direction;
use observer_core::observation::ProbeMissed;
use observer_tests::{ScriptedUpstream, fewer};
use serde_json::Value;
use watchtap::intake::{ConnectionId, Delivery, Intake, IntakeLimits, IntakeReceiver, Notice, TapEvent};
use watchtap::tap::Clock;
use watchtap::tap::probe::{ProbeOptions, ProbeTap};

use super::clients::{of_clients, python, ring_of};
use super::probe_output::{ProbeOutput, RunningProbe};

/// Writes 1 KiB `calls` times, on each connection in turn, at `rate` calls per second unless that is 0, but for no more than `seconds`.
/// It prints the bytes per port and closes the connections when its input closes.
const WRITER: &str = "
import json, socket, ssl, sys, time
host, authority, connections, calls, rate, *seconds = sys.argv[1:]
name, port = host.rsplit(':', 1)
context = ssl.create_default_context(cadata=authority)
opened = [context.wrap_socket(socket.create_connection((name, int(port))), server_hostname=name) for _ in range(int(connections))]
text, written, began = b'x' * 1024, [0] * len(opened), time.monotonic()
for call in range(int(calls)):
    if seconds and time.monotonic() > began + int(seconds[0]):
        break
    if int(rate) and call % 100 == 0:
        time.sleep(max(0, began + call / int(rate) - time.monotonic()))
    written[call % len(opened)] += opened[call % len(opened)].send(text)
took = time.monotonic() - began
print(json.dumps({'written': {each.getsockname()[1]: sent for each, sent in zip(opened, written)}, 'rate': sum(written) / len(text) / took}), flush=True)
sys.stdin.read()
";

/// More calls than a writer can complete during a test.
const ENDLESS: &str = "1000000000000";

/// Has two connections. After a line of input it frees one of them while it writes on the other without pause, and then keeps
/// running.
const GIVES_UP: &str = "
import socket, ssl, sys, threading
host, authority = sys.argv[1:]
name, port = host.rsplit(':', 1)
context = ssl.create_default_context(cadata=authority)
def connected():
    connection = context.wrap_socket(socket.create_connection((name, int(port))), server_hostname=name)
    connection.send(b'x')
    return connection
noise, given_up = connected(), connected()
print(given_up.getsockname()[1], flush=True)
sys.stdin.readline()
is_over = False
def write():
    while not is_over:
        noise.send(b'x' * 400)
writer = threading.Thread(target=write)
writer.start()
for _ in range(50):
    given_up.send(b'x' * 400)
left = given_up.unwrap()
# The library gives it up before the socket is closed.
del given_up
left.close()
is_over = True
writer.join()
sys.stdin.read()
";

/// Plaintext bytes of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bytes {
    seen: u64,
    lost: u64,
}

#[test]
fn nothing_is_lost_at_twenty_thousand_calls_a_second() {
    let (written, reported, missed) = written_and_reported(1, &["4", "200000", "20000"], 16 << 20);
    let seen: BTreeMap<u16, Bytes> = written.iter().map(|(port, sent)| (*port, Bytes { seen: *sent, lost: 0 })).collect();
    assert_eq!(reported, seen, "{missed:?}");
    // For other clients on this machine, the peer may be unknown, and calls may have begun before the probe was attached.
    assert_eq!(ProbeMissed { sockets: 0, unplaced: 0, calls: 0, ..missed }, ProbeMissed::default());
}

#[test]
fn lost_bytes_are_counted_per_connection() {
    let (written, reported, missed) = written_and_reported(4, &["2", "50000", "0"], 64 << 10);
    let all: BTreeMap<u16, u64> = reported.iter().map(|(port, bytes)| (*port, bytes.seen + bytes.lost)).collect();
    assert_eq!(all, written, "{reported:?} {missed:?}");
    let lost: u64 = reported.values().map(|bytes| bytes.lost).sum();
    assert!(lost > 0 && missed.bytes == lost && missed.records > 0, "{lost} of {written:?}, {missed:?}");
}

#[test]
fn ring_that_overflows_for_a_minute_counts_every_lost_byte() {
    let (written, reported, missed) = written_and_reported(4, &["2", ENDLESS, "0", "60"], 64 << 10);
    let all: BTreeMap<u16, u64> = reported.iter().map(|(port, bytes)| (*port, bytes.seen + bytes.lost)).collect();
    assert_eq!(all, written, "{reported:?} {missed:?}");
    assert!(reported.values().all(|bytes| bytes.seen > 0 && bytes.lost > 0), "{reported:?} {missed:?}");
}

#[test]
fn lost_bytes_are_counted_in_total() {
    let (written, reported, missed) = written_and_reported(4, &["2", &fewer(50_000).to_string(), "0"], 64 << 10);
    let seen: u64 = reported.values().map(|bytes| bytes.seen).sum();
    let all: u64 = written.values().sum();
    assert_eq!(seen + missed.bytes, all, "{reported:?} of {written:?}, {missed:?}");
}

#[test]
fn probe_detaches_and_stops_under_endless_records() {
    let sink = sink();
    let mut writers: Vec<Child> = (0..4).map(|_| writer(&sink, &["2", ENDLESS, "0"])).collect();
    let options =
        ProbeOptions { memory: ring_of(64 << 10), calls_per_second: 0, processor_budget: 0, ..of_clients(sink.address()) };

    let mut limited = RunningProbe::start(&ProbeOptions { calls_per_second: 1_000, ..options.clone() });
    limited.until(|output| output.events.iter().any(|(_, event)| matches!(event, TapEvent::Bytes { .. })));
    limited.until(|output| output.events.iter().any(|(_, event)| matches!(event, TapEvent::NotObserved { .. })));
    assert!(limited.output().not_probed().any(|(_, why)| why.contains("more than the 1000 calls a second")));
    limited.finish();

    let mut frugal = RunningProbe::start(&ProbeOptions { processor_budget: 1, ..options.clone() });
    frugal.until(|output| output.events.iter().any(|(_, event)| matches!(event, TapEvent::NotObserved { .. })));
    assert!(frugal.output().not_probed().any(|(_, why)| why.contains("more than its budget of 1m")));
    frugal.finish();

    let mut unlimited = RunningProbe::start(&options);
    unlimited.until(|output| output.events.iter().any(|(_, event)| matches!(event, TapEvent::Bytes { .. })));
    let asked = Instant::now();
    unlimited.finish();
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(10), "it is to end within about a second, and took {took:?}");
    for writer in &mut writers {
        assert_eq!(writer.try_wait().unwrap(), None, "it wrote all along");
        writer.kill().unwrap();
        writer.wait().unwrap();
    }
}

#[test]
fn connection_end_lost_from_the_ring_is_found_by_its_socket() {
    let sink = sink();
    // One page, which a few records fill before the probe reads it.
    let mut probe = RunningProbe::start(&ProbeOptions { memory: ring_of(4_096), ..of_clients(sink.address()) });
    let mut client = python(GIVES_UP, &[sink.address().to_string(), sink.ca_pem().to_owned()]);
    let mut client = client.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut port = String::new();
    BufReader::new(client.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let port: u16 = port.trim().parse().unwrap();
    let id = awaited(&mut probe, |id, event| {
        let TapEvent::Opened { info, .. } = event else { return None };
        (info.client.port() == port).then_some(id)
    });
    client.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    awaited(&mut probe, |of, event| matches!(event, TapEvent::Ended { .. }).then_some(()).filter(|()| of == id));
    drop(client.stdin.take());
    assert!(client.wait().unwrap().success());
}

/// Waits for the first event that `wanted` accepts, and returns its result.
#[track_caller]
fn awaited<T>(probe: &mut RunningProbe, wanted: impl Fn(ConnectionId, &TapEvent) -> Option<T>) -> T {
    let found = |output: &ProbeOutput| output.events.iter().find_map(|(id, event)| wanted(*id, event));
    probe.until(|output| found(output).is_some());
    found(probe.output()).unwrap()
}

/// Bytes written by port, bytes seen and lost by port, and the probe's own count of its misses.
fn written_and_reported(
    processes: usize,
    flags: &[&str],
    ring_bytes: u32,
) -> (BTreeMap<u16, u64>, BTreeMap<u16, Bytes>, ProbeMissed) {
    let sink = sink();
    let (intake, mut receiver) = Intake::new(IntakeLimits::default());
    let options =
        ProbeOptions { memory: ring_of(ring_bytes), calls_per_second: 0, processor_budget: 0, ..of_clients(sink.address()) };
    let tap = ProbeTap::start(&options, intake, Clock::start()).unwrap();
    let mut writers: Vec<Child> = (0..processes).map(|_| writer(&sink, flags)).collect();
    let observing = std::thread::spawn(move || reported(&mut receiver));
    let mut written = BTreeMap::new();
    for writer in &mut writers {
        let mut line = String::new();
        BufReader::new(writer.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let report: Value = serde_json::from_str(&line).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "{} calls a second", report["rate"]).unwrap();
        let of_it = report["written"].as_object().unwrap().iter();
        written.extend(of_it.map(|(port, sent)| (port.parse().unwrap(), sent.as_u64().unwrap())));
    }
    for mut writer in writers {
        drop(writer.stdin.take());
        assert!(writer.wait().unwrap().success());
    }
    tap.finish().unwrap();
    let (reported, missed) = observing.join().unwrap();
    (written, reported, missed)
}

/// A server that reads and discards everything.
fn sink() -> ScriptedUpstream {
    let sink = ScriptedUpstream::start(&[], |stream| {
        let mut read = [0; 1 << 14];
        while stream.read(&mut read)? > 0 {}
        Ok(())
    });
    sink.unwrap()
}

fn writer(sink: &ScriptedUpstream, flags: &[&str]) -> Child {
    let of_sink = [sink.address().to_string(), sink.ca_pem().to_owned()];
    let arguments: Vec<String> = of_sink.into_iter().chain(flags.iter().map(|flag| (*flag).to_owned())).collect();
    python(WRITER, &arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Reads all deliveries until the probe has stopped.
fn reported(receiver: &mut IntakeReceiver) -> (BTreeMap<u16, Bytes>, ProbeMissed) {
    let (mut connections, mut missed) = (BTreeMap::new(), ProbeMissed::default());
    let mut ports = BTreeMap::new();
    while !receiver.is_closed() {
        for delivered in receiver.drain(Duration::from_secs(1)) {
            match delivered.delivery {
                Delivery::Connection(id, TapEvent::Opened { info, .. }) => {
                    ports.insert(id, info.client.port());
                    connections.insert(info.client.port(), Bytes::default());
                }
                Delivery::Connection(id, TapEvent::Bytes { direction: Direction::Request, bytes, .. }) => {
                    connections.get_mut(&ports[&id]).unwrap().seen += bytes.len() as u64;
                }
                Delivery::Connection(id, TapEvent::Gap { direction: Direction::Request, gap, .. }) => {
                    connections.get_mut(&ports[&id]).unwrap().lost += gap.length;
                }
                Delivery::Notice(Notice::ProbeMissed { missed: more, .. }) => missed = missed.and(&more),
                Delivery::Connection(..) | Delivery::Notice(_) | Delivery::Process(..) => {}
            }
        }
    }
    (connections, missed)
}
