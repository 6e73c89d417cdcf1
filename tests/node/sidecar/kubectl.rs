//! kubectl in a pod with a sidecar: streams into another pod pass unchanged.

use std::io::{Read as _, Write as _};

use observer_tests::kubectl;
use observer_tests::node::{Image, Node};

use super::super::pods::{WEB_SERVER, web_server};
use super::stage::{Stage, inject};

pub(super) const KUBECTL: &str = "localhost/kubectl:1";
const RBAC: &str = "
apiVersion: v1
kind: ServiceAccount
metadata: {name: operator}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: operator}
rules: [{apiGroups: [''], resources: ['*'], verbs: ['*']}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: operator}
subjects: [{kind: ServiceAccount, name: operator}]
---
apiVersion: v1
kind: Pod
metadata: {name: target}
spec: {containers: [{name: app, image: 'localhost/etcd:1'}]}
";
const OPERATOR: &str = "apiVersion: v1
kind: Pod
metadata:
  name: operator
spec:
  serviceAccountName: operator
  terminationGracePeriodSeconds: 1
  containers:
  - name: app
    image: localhost/kubectl:1
    args: [get, pods, --watch]
";

#[test]
fn kubectl_in_a_pod_executes_follows_logs_and_forwards_ports_through_the_sidecar() {
    let node = Node::shared().unwrap();
    node.load(&web_server()).unwrap();
    load_kubectl(&node);
    let stage = Stage::baseline(&node, "operator");
    assert!(RBAC.contains(WEB_SERVER));
    stage.namespace.apply(RBAC).unwrap();
    stage.namespace.apply(&inject(OPERATOR)).unwrap();
    for pod in ["target", "operator"] {
        stage.namespace.wait(&format!("pod/{pod}"), "condition=Ready").unwrap();
    }
    let exec = |arguments: &[&str]| {
        let command: Vec<&str> = ["/kubectl"].iter().chain(arguments).copied().collect();
        stage.namespace.exec("operator", "app", &command).unwrap()
    };
    let version = exec(&["exec", "target", "--", "/etcd", "--version"]);
    assert!(version.starts_with("etcd Version"), "{version}");
    assert!(exec(&["logs", "target"]).contains("ready to serve client requests"));

    let follow = ["exec", "operator", "--container=app", "--", "/kubectl", "logs", "--follow", "target"];
    stage.namespace.follow(&follow).unwrap().line_with("ready to serve client requests").unwrap();

    let forward =
        ["exec", "operator", "--container=app", "--", "/kubectl", "port-forward", "--address=0.0.0.0", "pod/target", "9000:2379"];
    let mut forwarding = stage.namespace.follow(&forward).unwrap();
    forwarding.line_with("Forwarding from").unwrap();
    let mut stream = node.connect((stage.namespace.address("operator").unwrap(), 9000).into()).unwrap();
    stream.write_all(b"GET /version HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("etcdserver"), "{answer}");

    let log = stage.namespace.logs("operator", "watchtap").unwrap();
    assert!(!log.contains("failed"), "{log}");
}

/// Makes the image of kubectl available.
pub(super) fn load_kubectl(node: &Node) {
    node.load(&Image::new(KUBECTL).copy(kubectl().unwrap(), "/kubectl").entrypoint(&["/kubectl"])).unwrap();
}
