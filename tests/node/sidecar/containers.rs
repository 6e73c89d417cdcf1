//! A pod with three containers: two with informers, and one that makes no call until it is asked to.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use observer_tests::node::{InPod, Node};
use observer_tests::pod_client::PodClient;

use super::follower::{Follower, calls, wait_for_stores};
use super::kubectl::{KUBECTL, load_kubectl};
use super::stage::{HARDENED, Stage, image_name, inject};

const DIRECT: &str = "three-direct";
const BESIDE: &str = "three-sidecar";
/// A pod of its own, since kubelet waits for ten seconds before it starts a failed sidecar again.
const TAKEN: &str = "taken";
const INFORMERS: [&str; 2] = ["app", "other"];
/// The arguments with which kubectl makes no call by itself.
const IDLE: &str = "proxy, --port=0";
/// Where `inject` leads the first container.
const FIRST_PORT: u16 = 16443;
const LIMIT: Duration = Duration::from_mins(1);
const SIDECAR: InPod<'_> = InPod::Container("watchtap");

#[test]
fn containers_keep_their_names_and_their_api_server_through_ends_of_the_sidecar() {
    let node = Node::shared().unwrap();
    let stage = Stage::prepare(&node, "three");
    stage.load(PodClient::ClientGo).expect("the group needs go");
    load_kubectl(&node);
    stage.namespace.apply(&pod(DIRECT)).unwrap();
    stage.namespace.apply(&inject(&pod(BESIDE))).unwrap();
    stage.namespace.apply(&inject(&Stage::pod_of(TAKEN, KUBECTL, IDLE))).unwrap();
    let name = |pod: &str, container: &str| format!("{pod}-{container}");
    let start = |pod: &'static str| INFORMERS.map(|container| Follower::start(&stage, pod, container, &name(pod, container)));
    let mut followers: Vec<_> = [DIRECT, BESIDE].into_iter().flat_map(start).collect();
    for follower in &mut followers {
        follower.until("synced");
    }
    wait_for_stores(&stage, &mut followers);
    let [direct_app, direct_other, app, other] = calls(&stage, &followers).try_into().unwrap();
    assert_eq!((app, other), (direct_app, direct_other));

    let taken = take_port(&stage);
    check_outputs(&stage);
    check_rights(&stage);
    check_reason(&stage);
    drop(taken);
    end_sidecar(&stage, &mut followers);
    stage.namespace.wait(&format!("pod/{TAKEN}"), "condition=Ready").unwrap();
    get(&stage, TAKEN, "app");
}

/// Both containers have their names in the report and in the metrics, which anyone who reaches the pod can read.
fn check_outputs(stage: &Stage<'_>) {
    let attach = ["/watchtap", "attach", "--socket", "/var/run/secrets/watchtap/own/attach.sock", "--format", "text"];
    let report = stage.namespace.exec(BESIDE, "watchtap", &attach).unwrap();
    let address = stage.namespace.address(BESIDE).unwrap();
    let mut stream = stage.node.connect((address, 9643).into()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut metrics = String::new();
    stream.read_to_string(&mut metrics).unwrap();
    for container in INFORMERS {
        let client = format!("{container}:{BESIDE}-{container}");
        assert!(report.contains(&client), "{report}");
        assert!(metrics.contains(&client), "{metrics}");
    }
    assert!(!report.contains("idle:"), "{report}");
    let token = stage.namespace.token(BESIDE).unwrap();
    assert!(!report.contains(&token) && !metrics.contains(&token));
}

/// The right to execute programs in the sidecar is the right to read its key. Without that right, no user can.
fn check_rights(stage: &Stage<'_>) {
    let read = ["/watchtap", "uninject", "/var/run/secrets/watchtap/own/ca.pem"];
    assert!(stage.namespace.exec(BESIDE, "watchtap", &read).unwrap().contains("PRIVATE KEY"));
    let user = format!("--as={}", stage.namespace.user("informer"));
    let of_user = ["exec", BESIDE, "--container=watchtap", &user, "--", "/watchtap", "--version"];
    let refused = stage.namespace.kubectl(&of_user).unwrap_err().to_string();
    assert!(refused.contains("Forbidden") || refused.contains("forbidden"), "{refused}");
}

/// Another container takes the port while the sidecar restarts.
fn take_port(stage: &Stage<'_>) -> TcpListener {
    stage.namespace.wait(&format!("pod/{TAKEN}"), "condition=Ready").unwrap();
    stage.namespace.signal(TAKEN, SIDECAR, "SIGKILL").unwrap();
    let taken = stage.namespace.in_network_of(TAKEN, || {
        let began = Instant::now();
        loop {
            match TcpListener::bind((Ipv4Addr::LOCALHOST, FIRST_PORT)) {
                Err(error) if error.kind() == ErrorKind::AddrInUse && began.elapsed() < LIMIT => thread::yield_now(),
                bound => return Ok(bound?),
            }
        }
    });
    taken.unwrap()
}

/// Users find the reason why the sidecar fails.
fn check_reason(stage: &Stage<'_>) {
    let pod = format!("pod/{TAKEN}");
    let status = "jsonpath={.status.initContainerStatuses[0]";
    stage.namespace.wait(&pod, &format!("{status}.lastState.terminated.exitCode}}=1")).unwrap();
    stage.namespace.wait(&pod, &format!("{status}.state.waiting.reason}}=CrashLoopBackOff")).unwrap();
    let log = stage.namespace.logs(TAKEN, "watchtap").unwrap();
    for words in ["--container app", "127.0.0.1:16443 is in use by another container of this pod", "`watchtap inject` again"] {
        assert!(log.contains(words), "{log}");
    }
    let described = stage.namespace.kubectl(&["describe", &pod]).unwrap();
    assert!(described.contains("Exit Code:    1") && described.contains("CrashLoopBackOff"), "{described}");
}

/// After SIGTERM, as when the node shuts down, the container without a connection is served for as long as the others have one.
fn end_sidecar(stage: &Stage<'_>, followers: &mut [Follower<'_>]) {
    stage.namespace.signal(BESIDE, SIDECAR, "SIGTERM").unwrap();
    stage.namespace.follow_logs(BESIDE, "watchtap").unwrap().line_with("stopping: clients are served until none").unwrap();
    get(stage, BESIDE, "idle");
    wait_for_stores(stage, followers);

    for container in INFORMERS {
        stage.namespace.signal(BESIDE, InPod::Container(container), "SIGKILL").unwrap();
    }
    let status = "jsonpath={.status.initContainerStatuses[0].lastState.terminated.exitCode}=0";
    stage.namespace.wait(&format!("pod/{BESIDE}"), status).unwrap();
    // kubelet may have started it again.
    let log = stage.namespace.kubectl(&["logs", "--previous", BESIDE, "--container=watchtap"]).unwrap();
    for words in ["app:three-sidecar-app", "other:three-sidecar-other", "get configmaps"] {
        assert!(log.contains(words), "{log}");
    }
}

/// Lets kubectl in a container get an object.
#[track_caller]
fn get(stage: &Stage<'_>, pod: &str, container: &str) {
    let object = format!("/api/v1/namespaces/{}/configmaps/cm-1", stage.namespace.name());
    let got = stage.namespace.exec(pod, container, &["/kubectl", "get", "--raw", &object]).unwrap();
    assert!(got.contains("cm-1"), "{got}");
}

/// The pod with this name. The user agent of an informer is the name with that of its container.
fn pod(name: &str) -> String {
    let image = image_name(PodClient::ClientGo);
    let pod = Stage::pod_of(name, &image, &format!("{name}-app"));
    let container = |name: &str, image: &str, arguments: &str| {
        format!("  - name: {name}\n    image: {image}\n    args: [{arguments}]\n    securityContext: {HARDENED}\n")
    };
    let other = container("other", &image, &format!("{name}-other"));
    pod + &other + &container("idle", KUBECTL, IDLE)
}
