//! Parts of the node that are killed and started again.

use observer_tests::node::{Node, PodSecurity};

const POD: &str = "
apiVersion: v1
kind: Pod
metadata: {name: app}
spec: {containers: [{name: app, image: 'localhost/pause:1'}]}
";

#[test]
fn pods_can_be_created_after_a_restart_of_the_api_server() {
    let node = Node::alone().unwrap();
    node.restart_api_server().unwrap();
    let namespace = node.namespace("restarted", PodSecurity::Baseline).unwrap();
    namespace.apply(POD).unwrap();
    namespace.wait("pod/app", "condition=Ready").unwrap();
}

#[test]
fn restarted_kubelet_gives_a_running_pod_a_new_token() {
    let node = Node::alone().unwrap();
    let namespace = node.namespace("rotation", PodSecurity::Baseline).unwrap();
    namespace.apply(POD).unwrap();
    namespace.wait("pod/app", "condition=Ready").unwrap();
    let token = namespace.token("app").unwrap();
    node.restart_kubelet().unwrap();
    namespace.token_after("app", &token).unwrap();
    let pod = namespace.object("pod/app").unwrap();
    assert_eq!(pod["status"]["containerStatuses"][0]["restartCount"], 0, "{pod:#}");
}
