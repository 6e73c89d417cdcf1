//! Tests the memory limit of an idle watch: both TLS sides, the task, and the Observer's state. `cargo xtask bench watches`
//! measures 9 000 and more watches with the released program.

use std::io::{self, Read, Write};

use observer_tests::{ClientStream, HeldExec, ScriptedUpstream, ServerStream, connect, read_head};

const EVENTS: &str = concat!(
    r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"shop","uid":"u-1","resourceVersion":"8"}}}"#,
    "\n",
    r#"{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"9"}}}"#,
    "\n",
);
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nAudit-Id: 3b1c7c0e-5a55-4a0e-9d3c-9a0c1f2e3d4c\r\n\
    Transfer-Encoding: chunked\r\n\r\n";

/// The first watches do not count: they allocate thread stacks and initial tables.
#[test]
fn idle_watch_with_its_own_connection_takes_at_most_32_kib() {
    const FIRST: usize = 100;
    const WATCHES: usize = 400;
    const MOST: u64 = 32 << 10;
    let upstream = ScriptedUpstream::start(&[b"http/1.1"], watch).unwrap();
    let flags = ["--server-version", "v1.34.4"];
    let exec = HeldExec::before(upstream.address(), upstream.ca_pem(), "token", &flags).unwrap();
    let mut open: Vec<ClientStream> = (0..FIRST).map(|_| open_watch(&exec)).collect();
    exec.wait_until_idle().unwrap();
    let before = exec.usage().unwrap().anonymous;
    open.extend((0..WATCHES).map(|_| open_watch(&exec)));
    exec.wait_until_idle().unwrap();
    let each = (exec.usage().unwrap().anonymous - before) / WATCHES as u64;
    println!("{each} bytes an idle watch");
    assert!(each <= MOST, "{each} bytes an idle watch");

    drop(open);
    let report = exec.finish().unwrap();
    assert_eq!((&report["totals"]["watches"], &report["missed"]["bytes"]), (&(FIRST + WATCHES).into(), &0.into()));
}

/// Opens a watch and reads its first events.
fn open_watch(exec: &HeldExec) -> ClientStream {
    let mut stream = connect(exec.address().unwrap(), &exec.ca_pem().unwrap(), &[b"http/1.1"]).unwrap();
    let target = "/api/v1/namespaces/shop/pods?watch=true&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=400";
    let token = "x".repeat(900);
    let fields = "Host: kubernetes\r\nUser-Agent: controller/v1.0.0 (linux/amd64) kubernetes/v1.34.1\r\nAccept: application/json";
    write!(stream, "GET {target} HTTP/1.1\r\n{fields}\r\nAuthorization: Bearer {token}\r\n\r\n").unwrap();
    stream.read_exact(&mut vec![0; answer().len()]).unwrap();
    stream
}

/// Answers a watch with some events, and then stays silent until the client leaves.
fn watch(stream: &mut ServerStream) -> io::Result<()> {
    if read_head(stream)?.is_none() {
        return Ok(());
    }
    stream.write_all(answer().as_bytes())?;
    io::copy(stream, &mut io::sink()).map(drop)
}

fn answer() -> String {
    format!("{HEAD}{:x}\r\n{EVENTS}\r\n", EVENTS.len())
}
