//! The probe of control-plane nodes: it sees clients by the API server's own end of their connections.

use observer_tests::node::{Node, PodSecurity};
use observer_tests::pod_client::PodClient;

use super::pod::CPU;
use super::report::{pod_of, report, row};
use crate::chart::installed::{IMAGE, Installed, eventually, expect};
use crate::sidecar::follower::{Follower, wait_for_stores};
use crate::sidecar::stage::Stage;

/// Its library is rustls, so no probe sees its own end.
const CLIENT: (PodClient, &str) = (PodClient::KubeRs, "kube-rs-remote");

#[test]
fn probe_of_the_control_plane_observes_clients_that_no_other_probe_sees() {
    let node = Node::alone().unwrap();
    node.kubectl(&["label", "--overwrite", "node/node", "node-role.kubernetes.io/control-plane="]).unwrap();
    let stage = Stage::with_objects(&node, "remote", PodSecurity::Restricted);
    stage.load_watchtap(IMAGE);
    stage.load(CLIENT.0).expect("kube-rs needs nothing that is not here");
    let cpu = format!("controlPlaneProbe.resources.requests.cpu={CPU}");
    let values = ["webhook.enabled=false", "controlPlaneProbe.enabled=true", &cpu];
    let installed = Installed::with(&node, ("control-plane", PodSecurity::Privileged), &values);
    let probe = pod_of(&node, installed.namespace.name(), "control-plane-probe");

    stage.namespace.apply(&Stage::pod(CLIENT.0, CLIENT.1)).unwrap();
    let mut followers = [Follower::start(&stage, CLIENT.1, "app", CLIENT.1)];
    wait_for_stores(&stage, &mut followers);
    eventually(|| {
        let seen = report(&node, installed.namespace.name(), &probe)?;
        let row = row(&seen, CLIENT.1)?;
        expect(&(&row["state"], &row["resource"]), &(&"watching".into(), &"configmaps".into()))
    });
    let calls = stage.calls(CLIENT.1);
    assert!(calls.count("watch") > 0, "{calls}");
    node.kubectl(&["label", "node/node", "node-role.kubernetes.io/control-plane-"]).unwrap();
}
