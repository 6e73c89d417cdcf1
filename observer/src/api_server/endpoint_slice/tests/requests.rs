//! Tests of the one request, with a scripted API server.

use std::time::Duration;

use super::super::EndpointSliceReader;
use super::super::error::SliceError;
use super::scripted_server::{Reply, ScriptedServer, TOKEN};
use crate::api_server::ServiceInPod;

const SHORT: Duration = Duration::from_millis(200);

async fn read(server: &ScriptedServer) -> Result<Vec<String>, SliceError> {
    let read = EndpointSliceReader::of(server.service()).read().await;
    read.map(|addresses| addresses.into_iter().map(|address| address.to_string()).collect())
}

#[tokio::test]
async fn addresses_come_by_one_get_of_one_object() {
    let server = ScriptedServer::start("127.0.0.1:0", Reply::slice(&["10.0.0.2", "10.0.0.1", "fd00::1"])).await;
    assert_eq!(read(&server).await.unwrap(), ["10.0.0.1:6443", "10.0.0.2:6443", "[fd00::1]:6443"]);
    let received = server.received();
    let [head] = received.as_slice() else { panic!("{received:?}") };
    let line = head.lines().next().unwrap();
    assert_eq!(line, "GET /apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes HTTP/1.1");
    assert!(head.to_lowercase().contains(&format!("authorization: bearer {TOKEN}")), "{head}");
}

#[tokio::test]
async fn api_server_with_an_ipv6_address_is_asked() {
    let server = ScriptedServer::start("[::1]:0", Reply::slice(&["fd00::1"])).await;
    assert_eq!(read(&server).await.unwrap(), ["[fd00::1]:6443"]);
}

#[tokio::test]
async fn hundreds_of_endpoints_are_read() {
    let addresses: Vec<String> = (0..500).map(|number| format!("10.0.{}.{}", number / 250, number % 250 + 1)).collect();
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let server = ScriptedServer::start("127.0.0.1:0", Reply::slice(&addresses)).await;
    assert_eq!(read(&server).await.unwrap().len(), 500);
}

#[tokio::test]
async fn refusals_stay_and_other_failures_may_pass() {
    let status = r#"{"kind":"Status","message":"c4n4ry"}"#;
    let server = ScriptedServer::start("127.0.0.1:0", Reply::Close).await;
    for (reply, is_refusal, expected) in [
        (Reply::Answer(401, status.to_owned()), true, "grant its service account get on endpointslices.discovery.k8s.io"),
        (Reply::Answer(403, status.to_owned()), true, "403 Forbidden"),
        (Reply::Answer(404, status.to_owned()), true, "has none (404)"),
        (Reply::Answer(200, "garbage".to_owned()), true, "not an EndpointSlice"),
        (Reply::Answer(429, status.to_owned()), false, "429"),
        (Reply::Answer(500, status.to_owned()), false, "500"),
        (Reply::Answer(200, " ".repeat((1 << 20) + 1)), false, "larger than 1048576 bytes"),
        (Reply::Close, false, "failed"),
    ] {
        server.reply(reply.clone());
        let error = read(&server).await.unwrap_err();
        assert!(error.to_string().contains(expected) && !error.to_string().contains(TOKEN), "{reply:?}: {error}");
        assert_eq!(error.is_refusal(), is_refusal, "{reply:?}: {error}");
    }
    assert_eq!(server.received().len(), 8, "each is asked once");
}

#[tokio::test]
async fn slow_answer_is_not_awaited_for_long() {
    let server = ScriptedServer::start("127.0.0.1:0", Reply::Silence).await;
    let mut reader = EndpointSliceReader::of(server.service());
    reader.within = SHORT;
    let error = reader.read().await.unwrap_err();
    assert!(!error.is_refusal() && error.to_string().contains("did not answer in time"), "{error}");
}

#[tokio::test]
async fn untrusted_server_gets_no_token() {
    let server = ScriptedServer::start("127.0.0.1:0", Reply::slice(&["10.0.0.1"])).await;
    let other = ScriptedServer::start("127.0.0.1:0", Reply::slice(&["10.0.0.1"])).await;
    let service = ServiceInPod { at: other.service().at, authority: server.service().authority };
    let error = EndpointSliceReader::of(service).read().await.unwrap_err();
    assert!(error.to_string().contains("could not connect") && !error.is_refusal(), "{error}");
    assert_eq!(other.received(), [""; 0]);
}

#[tokio::test]
async fn pod_without_a_credential_sends_no_request() {
    for file in ["token", "ca.crt"] {
        let server = ScriptedServer::start("127.0.0.1:0", Reply::slice(&[])).await;
        server.remove(file);
        let error = read(&server).await.unwrap_err();
        assert!(error.is_refusal(), "{error}");
        assert_eq!(server.received(), [""; 0]);
    }
}
