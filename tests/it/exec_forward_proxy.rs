//! `watchtap exec` with an API server behind a forward proxy.

use observer_tests::scripted_forward_proxy::{Protocol, ProxyReply, ScriptedForwardProxy};
use observer_tests::{ExecSession, output_within};

use super::exec_cli::{LIMIT, TestHome, get, stderr};
use super::upstream::Upstream;

#[test]
fn version_request_and_command_use_the_cluster_proxy() {
    let server = Upstream::start();
    let proxy = ScriptedForwardProxy::start(Protocol::Http, ProxyReply::Connect(server.address())).unwrap();
    let place = TestHome::new();
    let kubeconfig = place.write("kubeconfig", &server.kubeconfig_with_proxy(&format!("http://me:s3cret@{}", proxy.address)));
    let session = ExecSession::start(&kubeconfig, &[]).unwrap();
    assert!(get(&session, "/api/v1/pods").starts_with("HTTP/1.1 404 Not Found\r\n"));
    let finished = session.finish().unwrap();
    let mut requests = server.requests();
    requests.sort_unstable();
    assert_eq!(requests, ["GET /api/v1/pods", "GET /metrics", "GET /version"]);
    let asked = proxy.asked();
    assert!(asked.len() >= 2 && asked.iter().all(|head| head.starts_with("CONNECT api.invalid:6443 ")), "{asked:?}");
    assert!(!format!("{finished:?}").contains("s3cret"), "{finished:#?}");
}

#[test]
fn environment_proxy_is_used_unless_in_no_proxy() {
    let server = Upstream::start();
    let proxy = ScriptedForwardProxy::start(Protocol::Http, ProxyReply::Connect(server.address())).unwrap();
    let place = TestHome::new();
    place.write("kubeconfig", &server.kubeconfig_with_proxy(""));
    let exec = |no_proxy: &str| {
        let mut command = place.command(&["exec", "--", "true"]);
        command.env("HTTPS_PROXY", format!("http://me:s3cret@{}", proxy.address)).env("NO_PROXY", no_proxy);
        output_within(&mut command, LIMIT).unwrap()
    };
    let output = exec("other.invalid");
    assert_eq!((output.status.code(), server.requests().len()), (Some(0), 2), "{}", stderr(&output));
    let output = exec("invalid");
    assert_eq!((output.status.code(), server.requests().len()), (Some(0), 2), "excepted, and so not resolved: {}", stderr(&output));
    assert!(stderr(&output).contains("cannot resolve api.invalid:6443"), "{}", stderr(&output));
    assert_eq!(proxy.asked().len(), 2);
}

#[test]
fn missing_clients_hint_names_no_proxy_with_proxy_url() {
    let place = TestHome::new();
    place.write("kubeconfig", &Upstream::start().kubeconfig());
    for (via, is_reported) in [("proxy-url", true), ("server", false)] {
        let output = output_within(&mut place.command(&["exec", "--via", via, "--", "true"]), LIMIT).unwrap();
        let said = stderr(&output);
        assert!(
            said.contains("No client connected through watchtap") && said.contains("in NO_PROXY") == is_reported,
            "{via}: {said}"
        );
    }
}
