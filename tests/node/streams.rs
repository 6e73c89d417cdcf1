//! Streams between kubectl and a container: exec, logs, port-forward.

use std::io::{Read, Write};
use std::net::TcpStream;

use observer_tests::node::{Node, PodSecurity};

use super::pods::{WEB_SERVER, web_server};

#[test]
fn kubectl_executes_follows_logs_and_forwards_ports() {
    let node = Node::shared().unwrap();
    node.load(&web_server()).unwrap();
    let namespace = node.namespace("streams", PodSecurity::Baseline).unwrap();
    let manifest = format!(
        "
apiVersion: v1
kind: Pod
metadata: {{name: app}}
spec: {{containers: [{{name: app, image: '{WEB_SERVER}'}}]}}
"
    );
    namespace.apply(&manifest).unwrap();
    namespace.wait("pod/app", "condition=Ready").unwrap();

    let version = namespace.exec("app", "app", &["/etcd", "--version"]).unwrap();
    assert!(version.starts_with("etcd Version"), "{version}");

    let mut log = namespace.follow_logs("app", "app").unwrap();
    log.line_with("ready to serve client requests").unwrap();

    let direct = node.connect((namespace.address("app").unwrap(), 2379).into()).unwrap();
    assert!(answer(direct).contains("etcdserver"));
    let forwarded = namespace.forward("app", 2379).unwrap();
    assert!(answer(node.connect(forwarded.address).unwrap()).contains("etcdserver"));
}

fn answer(mut stream: TcpStream) -> String {
    stream.write_all(b"GET /version HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
