//! A sidecar in a real cgroup with the memory limit that `watchtap inject` writes, in a storm: it lives, and passes on every byte.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;

use observer_tests::scrape::Scraper;
use observer_tests::sidecar::{Sidecar, Volumes};
use observer_tests::{ClientStream, MemoryCgroup, Port, ScriptedUpstream, ServerStream, built, connect, read_head};
use rustix::process::Signal;
use serde_json::Value;
use watchtap::pod_layout::MEMORY_LIMIT;

const HTTP1: &[&[u8]] = &[b"http/1.1"];

/// Maximum memory of the pod in the storm, in bytes. The rest is for the buffers of sockets, which cgroup v1 does not count, and for
/// pages that a user attaches. With the bounds of a process without a limit, the storm takes more.
const MOST: u64 = 80 << 20;

const MEBI: usize = 1 << 20;

/// Clients that list at once, and read as fast as they can.
const LISTING: usize = 24;
/// Clients that list at once, and read on only when the others have everything.
const STALLED: usize = 12;
/// Watches that are open before.
const WATCHES: usize = 60;
/// Clients of the port for metrics that do not read.
const UNREADING_SCRAPERS: usize = 16;
/// Objects of each list. They are small, so that there are many: each of them is remembered.
const OBJECTS: usize = 40_000;

#[test]
fn storm_within_the_memory_limit_of_a_pod_kills_nothing_and_changes_no_byte() {
    // That of `watchtap inject`.
    let limit: u64 = MEMORY_LIMIT.strip_suffix("Mi").unwrap().parse().unwrap();
    let list = Arc::new(list());
    let served = Arc::clone(&list);
    let upstream = ScriptedUpstream::start(HTTP1, move |stream| serve(stream, &served)).unwrap();
    let Some(volumes) = Volumes::new(upstream.ca_pem()).unwrap() else { return };
    let Some(cgroup) = MemoryCgroup::with_limit(limit << 20).unwrap() else { return };
    // The file of the program counts where it is read first, which is not the pod.
    io::copy(&mut fs::File::open(built("watchtap").unwrap()).unwrap(), &mut io::sink()).unwrap();
    let port = Port::reserve().unwrap();
    let container = format!("app={}", port.number());
    let report = ["--report", "/run/secrets/watchtap/own/report.json", "--format", "json"];
    let flags = [&["--container", &container, "--metrics", "127.0.0.1:0", "--server-version", "v1.34.4"], &report[..]].concat();
    let mut sidecar = Sidecar::start_in(&cgroup, &volumes, upstream.address(), &flags).unwrap();
    sidecar.stderr_line_with(&format!("memory limit {limit} MiB: observing keeps at most")).unwrap();
    let metrics = Scraper::announced_in(&sidecar.stderr_line_with("metrics: ").unwrap()).unwrap();
    sidecar.stderr_line_with("clients reach").unwrap();
    let pod = Pod { address: SocketAddr::from(([127, 0, 0, 1], port.number())), authority: volumes.trusted(), metrics };

    let watches: Vec<ClientStream> = (0..WATCHES).map(|number| pod.watch(number)).collect();
    let idle = sidecar.usage().unwrap().anonymous;
    let held: Vec<TcpStream> = (0..UNREADING_SCRAPERS).map(|_| pod.scrape_without_reading()).collect();
    let (first, rest) = list.split_at(MEBI);
    let (listing, stalled) =
        (0..LISTING + STALLED).map(|number| pod.list(number)).partition::<Vec<_>, _>(|list| list.number < LISTING);
    let stalled = read_at_once(stalled, first);
    let stormed = read_at_once(listing, &list);
    let anonymous = sidecar.usage().unwrap().anonymous;
    read_at_once(stalled, rest);
    drop(stormed);
    drop((held, watches));
    sidecar.signal(Signal::TERM).unwrap();
    let (status, _, stderr) = sidecar.wait().unwrap();
    let peak = cgroup.peak().unwrap();
    println!(
        "anonymous memory: {} KiB with {WATCHES} watches, {} KiB after the lists; peak of the cgroup: {} KiB",
        idle >> 10,
        anonymous >> 10,
        peak >> 10
    );
    assert!(status.success() && cgroup.kills().unwrap() == 0, "{status}, {stderr}");
    assert!(peak < MOST, "{peak} bytes");
    losses_are_stated(&serde_json::from_slice(&fs::read(volumes.path("own/report.json")).unwrap()).unwrap(), list.len());
}

/// Each list is complete in the report, or the report has it as incomplete, and counts the bytes that were dropped.
#[track_caller]
fn losses_are_stated(report: &Value, response: usize) {
    let all = (LISTING + STALLED) as u64;
    let lists: Vec<&Value> = report["requests"].as_array().unwrap().iter().filter(|request| request["verb"] == "list").collect();
    let (complete, others): (Vec<&Value>, Vec<&Value>) = lists.into_iter().partition(|list| list["items"] == OBJECTS);
    for list in &others {
        assert!(list["end"] == "not-observed" || list["missed_bytes"].as_u64() > Some(0), "{list:#}");
    }
    let (missed, counted) = (report["missed"]["bytes"].as_u64().unwrap(), report["totals"]["lists"].as_u64().unwrap());
    println!("missed: {missed} bytes; {} lists are complete, {} are not, of {counted}", complete.len(), others.len());
    assert!(missed < all * response as u64 && counted <= all, "{}", report["missed"]);
    assert!(missed > 0 || (others.is_empty() && counted == all), "{}", report["missed"]);
    assert!(report["totals"]["watches"] == WATCHES && !(complete.is_empty() && others.is_empty()));
}

/// The clients' view of the sidecar.
struct Pod {
    address: SocketAddr,
    authority: String,
    metrics: Scraper,
}

impl Pod {
    fn watch(&self, number: usize) -> ClientStream {
        let target = format!("/api/v1/namespaces/ns-{number}/configmaps?watch=true&resourceVersion=7&allowWatchBookmarks=true");
        let mut stream = self.ask(&target);
        read_expected(&mut stream, WATCH.as_bytes());
        stream
    }

    fn list(&self, number: usize) -> List {
        List { number, stream: self.ask(&format!("/api/v1/namespaces/ns-{number}/pods?limit=500")) }
    }

    fn ask(&self, target: &str) -> ClientStream {
        let mut stream = connect(self.address, &self.authority, HTTP1).unwrap();
        let fields =
            "Host: kubernetes\r\nUser-Agent: controller/v1.0.0 (linux/amd64) kubernetes/v1.34.1\r\nAccept: application/json";
        write!(stream, "GET {target} HTTP/1.1\r\n{fields}\r\n\r\n").unwrap();
        stream
    }

    fn scrape_without_reading(&self) -> TcpStream {
        let mut stream = self.metrics.connect().unwrap();
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        stream
    }
}

/// A list whose response is not read yet.
struct List {
    number: usize,
    stream: ClientStream,
}

/// Reads a part of all these responses at the same time. Returns the lists.
fn read_at_once(lists: Vec<List>, expected: &[u8]) -> Vec<List> {
    let read = |mut list: List| {
        read_expected(&mut list.stream, expected);
        list
    };
    thread::scope(|scope| {
        let reading: Vec<_> = lists.into_iter().map(|list| scope.spawn(move || read(list))).collect();
        reading.into_iter().map(|list| list.join().unwrap()).collect()
    })
}

/// Reads as many bytes as `expected` has, and compares them.
#[track_caller]
fn read_expected(stream: &mut ClientStream, expected: &[u8]) {
    let mut buffer = vec![0; 64 << 10];
    let mut rest = expected;
    while !rest.is_empty() {
        let most = rest.len().min(buffer.len());
        let read = stream.read(&mut buffer[..most]).unwrap();
        assert!(read > 0, "the response ends {} bytes early", rest.len());
        assert!(rest.starts_with(&buffer[..read]), "other bytes arrived, {} before the end", rest.len());
        rest = &rest[read..];
    }
}

const WATCH: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Answers one request: a list, or a watch without events.
fn serve(stream: &mut ServerStream, list: &[u8]) -> io::Result<()> {
    let Some(head) = read_head(stream)? else { return Ok(()) };
    if !head.contains("watch=true") {
        return stream.write_all(list);
    }
    stream.write_all(WATCH.as_bytes())?;
    io::copy(stream, &mut io::sink()).map(drop)
}

/// The response to a list, with its head.
fn list() -> Vec<u8> {
    let object = |number: usize| {
        format!(
            r#"{{"metadata":{{"name":"pod-{number}","namespace":"shop","uid":"0b1f6c1e-5a55-4a0e-9d3c-{number:012}","resourceVersion":"1{number}"}},"spec":{{"nodeName":"worker"}}}}"#
        )
    };
    let objects: Vec<String> = (0..OBJECTS).map(object).collect();
    let body = format!(
        r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"987654321"}},"items":[{}]}}"#,
        objects.join(",")
    );
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}
