//! `kubectl exec` over WebSocket through watchtap. The test itself answers for the pod, since pods do not run without a kubelet.

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use observer_tests::{HeldExec, ScriptedUpstream, ServerStream, kubectl, output_within, read_head};
use serde_json::json;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role};
use tungstenite::{Message, Utf8Bytes, WebSocket};

const LIMIT: Duration = Duration::from_mins(1);
const CANARY: &str = "c4n4ry-that-is-typed\n";
const TIMES: usize = 50_000;
/// The subprotocol, and the channel numbers, which are the first byte of each message (kubernetes/streaming
/// `pkg/httpstream/wsstream`, client-go `tools/remotecommand/websocket.go`).
const SUBPROTOCOL: &str = "v5.channel.k8s.io";
const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const ERROR: u8 = 3;
const CLOSE: u8 = 255;

#[test]
fn input_to_a_pod_is_echoed_and_only_its_bytes_counted() {
    let upstream = ScriptedUpstream::start(&[b"http/1.1"], answer_all).unwrap();
    let exec = HeldExec::before(upstream.address(), upstream.ca_pem(), "token", &["--server-version", "v1.34.4"]).unwrap();
    let kubeconfig = exec.kubeconfig_by_way_of(exec.address().unwrap(), &exec.ca_pem().unwrap()).unwrap();
    let typed = CANARY.repeat(TIMES);
    let mut input = tempfile::tempfile().unwrap();
    input.write_all(typed.as_bytes()).unwrap();
    io::Seek::rewind(&mut input).unwrap();

    let mut command = Command::new(kubectl().expect("these tests need kubectl on the PATH"));
    command.args(["exec", "--stdin", "shell", "--", "cat"]).stdin(Stdio::from(input));
    command.env("KUBECONFIG", &kubeconfig).env("HOME", kubeconfig.parent().unwrap());
    let output = output_within(&mut command, LIMIT).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout == typed.as_bytes(), "{} of {} bytes came back", output.stdout.len(), typed.len());

    let report = exec.finish().unwrap();
    let sessions = report["requests"].as_array().unwrap().iter().filter(|request| request["status"] == 101);
    let [session] = sessions.collect::<Vec<_>>()[..] else { panic!("{:#}", report["requests"]) };
    assert_eq!((&session["verb"], &session["upgraded"]), (&json!("get"), &json!("websocket")), "{session:#}");
    assert!(session["bytes"].as_u64().unwrap() > typed.len() as u64, "{session:#}");
    assert!(!report.to_string().contains(CANARY.trim()), "{report:#}");
}

fn answer_all(stream: &mut ServerStream) -> io::Result<()> {
    while answer(stream)? {}
    Ok(())
}

/// Answers a request. Returns false if no other request can follow on this connection.
fn answer(stream: &mut ServerStream) -> io::Result<bool> {
    let Some(head) = read_head(stream)? else { return Ok(false) };
    let target = head.split(' ').nth(1).unwrap_or_default();
    let (path, _query) = target.split_once('?').unwrap_or((target, ""));
    let pods = json!([{"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod", "verbs": ["get", "list"]}]);
    let spec = json!({"containers": [{"name": "main", "image": "example/shell:1"}]});
    let body = match path {
        "/api" => json!({"kind": "APIVersions", "versions": ["v1"]}),
        "/apis" => json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": []}),
        "/api/v1" => json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": pods}),
        "/api/v1/namespaces/default/pods/shell" => json!({
            "kind": "Pod", "apiVersion": "v1", "metadata": {"name": "shell", "namespace": "default"}, "spec": spec,
            "status": {"phase": "Running"},
        }),
        "/api/v1/namespaces/default/pods/shell/exec" => {
            cat(stream, &head)?;
            return Ok(false);
        }
        _ => json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}),
    };
    let status = if body["kind"] == "Status" { "404 Not Found" } else { "200 OK" };
    let body = body.to_string();
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")?;
    Ok(true)
}

/// Echoes stdin to stdout until it ends; then reports success.
fn cat(stream: &mut ServerStream, head: &str) -> io::Result<()> {
    let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).ok_or(io::ErrorKind::InvalidData)?;
    let accept = derive_accept_key(key.as_bytes());
    write!(
        stream,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
    )?;
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, None);
    loop {
        let Message::Binary(message) = socket.read().map_err(io::Error::other)? else { continue };
        match message.split_first() {
            Some((&STDIN, typed)) => {
                let shown = [&[STDOUT], typed].concat();
                socket.send(Message::binary(shown)).map_err(io::Error::other)?;
            }
            Some((&CLOSE, [STDIN])) => break,
            Some(_) | None => {}
        }
    }
    let success = json!({"metadata": {}, "status": "Success"}).to_string();
    socket.send(Message::binary([&[ERROR], success.as_bytes()].concat())).map_err(io::Error::other)?;
    socket.close(Some(CloseFrame { code: CloseCode::Normal, reason: Utf8Bytes::default() })).map_err(io::Error::other)?;
    // Reads up to the client's own Close frame.
    while socket.read().is_ok() {}
    Ok(())
}
