//! Pods that start while the API server is away.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use observer_tests::node::{InPod, Node};
use observer_tests::pod_client::PodClient;

use super::follower::{Follower, wait_for_stores};
use super::stage::{Stage, inject};

const DIRECT: &str = "away-direct";
const BESIDE: &str = "away-sidecar";
const LIMIT: Duration = Duration::from_mins(1);
/// The pause between two looks into a file.
const PAUSE: Duration = Duration::from_millis(100);

/// The pods have their volumes already: without the API server, kubelet gets no token for a new pod, with or without a sidecar.
#[test]
fn pod_that_starts_without_its_api_server_is_refused_as_without_a_sidecar_and_works_when_it_is_back() {
    let node = Node::alone().unwrap();
    let stage = Stage::prepare(&node, "away");
    stage.load(PodClient::ClientGo).expect("the group needs go");
    stage.namespace.apply(&Stage::pod(PodClient::ClientGo, DIRECT)).unwrap();
    stage.namespace.apply(&inject(&Stage::pod(PodClient::ClientGo, BESIDE))).unwrap();
    for pod in [DIRECT, BESIDE] {
        Follower::start(&stage, pod, "app", pod).until("synced");
    }

    node.stop_api_server().unwrap();
    for pod in [DIRECT, BESIDE] {
        stage.namespace.signal(pod, InPod::Sandbox, "SIGKILL").unwrap();
    }
    for (pod, server) in [(DIRECT, "10.96.0.1:443"), (BESIDE, "127.0.0.1:16443")] {
        let app = log_with(&stage, pod, "app", &|log| log.matches(r#""event":"started""#).count() >= 2);
        assert_eq!(app.matches(r#""event":"synced""#).count(), 1, "{app}");
        let connected = stage.namespace.in_network_of(pod, || Ok(TcpStream::connect(server).map_err(|error| error.kind())));
        assert_eq!(connected.unwrap().unwrap_err(), ErrorKind::ConnectionRefused, "{server}");
    }
    log_with(&stage, BESIDE, "watchtap", &|log| {
        let (_first, second) = log.rsplit_once("clients reach").unwrap_or_default();
        second.contains("the API server refuses connections; watchtap refuses its clients, too")
    });

    node.start_api_server().unwrap();
    let mut followers: Vec<_> = [DIRECT, BESIDE].map(|pod| Follower::start(&stage, pod, "app", pod)).into();
    for follower in &mut followers {
        follower.until("synced");
    }
    wait_for_stores(&stage, &mut followers);
    for pod in [DIRECT, BESIDE] {
        let app = stage.namespace.log_files(pod, "app").unwrap();
        assert_eq!(app.matches(r#""event":"started""#).count(), 2, "the app waits, and does not fail: {app}");
    }
}

/// The logs of a container once they satisfy `enough`.
#[track_caller]
fn log_with(stage: &Stage<'_>, pod: &str, container: &str, enough: &dyn Fn(&str) -> bool) -> String {
    let began = Instant::now();
    loop {
        let log = stage.namespace.log_files(pod, container).unwrap();
        if enough(&log) {
            return log;
        }
        assert!(began.elapsed() < LIMIT, "{pod} {container}: {log}");
        thread::sleep(PAUSE);
    }
}
