//! Watches over WebSocket through watchtap, which fabric8's informers try first: they are decoded like any other watch.

use std::sync::Arc;
use std::time::Duration;

use observer_tests::{ClientStream, Cluster, ExecSession, Options};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::http::{HeaderValue, Request};
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Message, Utf8Bytes, WebSocket};

const NAMESPACE: &str = "websocket";
/// Lengths of the objects' data, so that frames have lengths of 7, 16 and 64 bits.
const HELD: [usize; 3] = [0, 2_000, 100_000];
const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn websocket_watches_are_decoded_in_every_encoding_until_they_end() {
    let options =
        Options { api_server_arguments: vec!["--feature-gates=CBORServingAndStorage=true".to_owned()], ..Options::default() };
    let cluster = Cluster::start(&options).unwrap();
    cluster.create_configmaps(NAMESPACE, 1).unwrap();
    let session = ExecSession::start(&cluster.kubeconfig_token().unwrap(), &[]).unwrap();

    let by_server = [
        ("application/json", ""),
        // The server accepts any one subprotocol, and its messages are the same as without one.
        ("application/json", "base64.binary.k8s.io"),
        ("application/vnd.kubernetes.protobuf", ""),
        ("application/cbor", ""),
    ];
    for (accept, subprotocol) in by_server {
        let mut socket = open(&session, &cluster, accept, subprotocol, "&timeoutSeconds=3");
        let events = change(&cluster);
        assert_eq!(drain(&mut socket), events, "{accept} {subprotocol}");
    }
    let mut socket = open(&session, &cluster, "application/json", "", "");
    let events = change(&cluster);
    for _ in 0..events {
        assert!(socket.read().unwrap().is_text());
    }
    socket.close(Some(CloseFrame { code: CloseCode::Normal, reason: Utf8Bytes::default() })).unwrap();
    drain(&mut socket);
    let refused =
        tungstenite::client(request(&session, &cluster, "application/json", "", "&fieldSelector=nonsense"), stream(&session));
    assert!(refused.is_err(), "an option that cannot be");

    let report = session.finish().unwrap().report;
    let watches = report["requests"].as_array().unwrap();
    assert_eq!(watches.len(), by_server.len() + 2, "{watches:#?}");
    for (watch, (media_type, _)) in watches.iter().zip(by_server) {
        check(watch, media_type, events);
        assert_eq!(watch["end"], "complete", "{watch:#?}");
    }
    check(&watches[by_server.len()], "application/json", events);
    assert_eq!(watches[by_server.len()]["end"], json!({"reset": {"by": "request", "code": 1000}}), "{watches:#?}");
    assert_eq!((&watches[by_server.len() + 1]["status"], &watches[by_server.len() + 1]["upgraded"]), (&json!(400), &Value::Null));
    assert_eq!(report["missed"]["bodies"], json!({}), "{:#}", report["missed"]);
}

#[track_caller]
fn check(watch: &Value, media_type: &str, events: usize) {
    assert_eq!((&watch["verb"], &watch["resource"], &watch["status"]), (&json!("watch"), &json!("configmaps"), &json!(101)));
    assert_eq!((&watch["upgraded"], &watch["content_type"]), (&json!("websocket"), &json!(media_type)), "{watch:#?}");
    assert_eq!(watch["verdict"]["served_from"], "Cache", "{watch:#?}");
    let counted = ["added", "modified", "deleted"].map(|kind| watch["watch"][kind].as_u64().unwrap());
    assert_eq!(counted, [HELD.len() as u64, 0, HELD.len() as u64], "{watch:#?}");
    assert_eq!(counted.iter().sum::<u64>(), events as u64);
    let last = watch["watch"]["last_resource_version"].as_str().unwrap();
    assert!(last.parse::<u64>().unwrap() > 0, "{watch:#?}");
    assert!(watch["bytes"].as_u64().unwrap() > 100_000, "{watch:#?}");
}

/// Opens a watch from the current revision.
#[track_caller]
fn open(session: &ExecSession, cluster: &Cluster, accept: &str, subprotocol: &str, more: &str) -> WebSocket<ClientStream> {
    let request = request(session, cluster, accept, subprotocol, more);
    let (socket, response) = tungstenite::client(request, stream(session)).unwrap();
    assert_eq!(response.status(), 101);
    socket
}

fn request(session: &ExecSession, cluster: &Cluster, accept: &str, subprotocol: &str, more: &str) -> Request<()> {
    let list = cluster.raw("GET", &path("?resourceVersion=0"), &[], b"").unwrap().success().unwrap().json().unwrap();
    let revision = list["metadata"]["resourceVersion"].as_str().unwrap();
    let url = format!("wss://{}{}", session.address().unwrap(), path(&format!("?watch=true&resourceVersion={revision}{more}")));
    let mut request = url.into_client_request().unwrap();
    let bearer = format!("Bearer {}", cluster.admin_token());
    // The server refuses handshakes without an Origin (golang.org/x/net `websocket/server.go` `checkOrigin`).
    let fields = [
        ("authorization", bearer.as_str()),
        ("accept", accept),
        ("origin", "https://localhost"),
        ("sec-websocket-protocol", subprotocol),
    ];
    for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
        request.headers_mut().insert(name, HeaderValue::from_str(value).unwrap());
    }
    request
}

#[track_caller]
fn stream(session: &ExecSession) -> ClientStream {
    let address = session.address().unwrap();
    let tls = session.tls(&[b"http/1.1"]).unwrap();
    let connection = ClientConnection::new(Arc::clone(&tls), ServerName::from(address.ip())).unwrap();
    let socket = std::net::TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    StreamOwned::new(connection, socket)
}

/// Creates an object of each size and deletes them; returns the number of events.
#[track_caller]
fn change(cluster: &Cluster) -> usize {
    for (number, held) in HELD.iter().enumerate() {
        let object = json!({"metadata": {"name": format!("sized-{number}")}, "data": {"held": "x".repeat(*held)}});
        cluster.client().post(&path(""), &object).unwrap().success().unwrap();
    }
    for number in 0..HELD.len() {
        cluster.raw("DELETE", &path(&format!("/sized-{number}")), &[], b"").unwrap().success().unwrap();
    }
    2 * HELD.len()
}

/// Reads to the end; returns the number of messages.
#[track_caller]
fn drain(socket: &mut WebSocket<ClientStream>) -> usize {
    let mut messages = 0;
    loop {
        match socket.read() {
            Ok(Message::Text(_) | Message::Binary(_)) => messages += 1,
            Ok(Message::Close(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => {}
            Err(tungstenite::Error::ConnectionClosed) => return messages,
            Err(error) => panic!("after {messages} messages: {error}"),
        }
    }
}

fn path(rest: &str) -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps{rest}")
}
