//! `watchtap exec` with an API server behind a forward proxy.

use observer_tests::scripted_forward_proxy::{Answer, Protocol, ScriptedForwardProxy};
use observer_tests::{ExecSession, output_within};

use super::exec_cli::{LIMIT, Place, get, stderr};
use super::upstream::Upstream;

#[test]
fn question_and_command_go_through_the_proxy_of_the_cluster() {
    let server = Upstream::start();
    let proxy = ScriptedForwardProxy::start(Protocol::Http, Answer::Connect(server.address())).unwrap();
    let place = Place::new();
    let kubeconfig = place.write("kubeconfig", &server.kubeconfig_behind(&format!("http://me:s3cret@{}", proxy.address)));
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
fn proxy_of_the_environment_is_used_unless_excepted() {
    let server = Upstream::start();
    let proxy = ScriptedForwardProxy::start(Protocol::Http, Answer::Connect(server.address())).unwrap();
    let place = Place::new();
    place.write("kubeconfig", &server.kubeconfig_behind(""));
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
fn where_we_are_the_proxy_silence_may_come_from_the_exceptions_of_the_command() {
    let place = Place::new();
    place.write("kubeconfig", &Upstream::start().kubeconfig());
    for (via, is_said) in [("proxy-url", true), ("server", false)] {
        let output = output_within(&mut place.command(&["exec", "--via", via, "--", "true"]), LIMIT).unwrap();
        let said = stderr(&output);
        assert!(said.contains("No client connected through watchtap") && said.contains("in NO_PROXY") == is_said, "{via}: {said}");
    }
}
