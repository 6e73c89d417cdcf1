//! The commands of `deploy/README.md` for a probe, as they stand there: from a namespace of its own to the page of a node, and back to a
//! cluster that has no object of ours.

use observer_tests::node::{Node, PodSecurity};
use observer_tests::pod_client::PodClient;
use observer_tests::{Helm, HelmRelease};

use super::examined::examine;
use super::page;
use super::report::pod_of;
use crate::chart::commands::{Guide, commands_of};
use crate::chart::installed::{IMAGE, all_objects, eventually, expect, run, settle};
use crate::sidecar::follower::Follower;
use crate::sidecar::stage::Stage;

/// The node in the commands.
const PLACE: &str = "spec.nodeName=NODE";
/// The namespace in the commands.
const PROBES: &str = "watchtap-probes";
const CLIENT: (PodClient, &str) = (PodClient::ClientGo, "controller");

#[test]
fn commands_of_the_guide_show_the_clients_of_a_node_and_leave_nothing_after_their_end() {
    let commands = commands_of("All clients of a node");
    let [namespace, install, attach, back] = commands.as_slice() else { panic!("{commands:#?}") };
    let node = Node::alone().unwrap();
    let stage = Stage::with_objects(&node, "of-a-node", PodSecurity::Restricted);
    stage.load_watchtap(IMAGE);
    stage.load(CLIENT.0).expect("the group needs go");
    settle(&node);
    let before = all_objects(&node);

    let helm = Helm::of(HelmRelease::V4).unwrap();
    let selector = format!("spec.nodeName={}", Node::NAME);
    let guide = Guide::of(&node, &helm, &[(PLACE, &selector)]);
    assert!(attach.contains(PLACE), "{attach}");
    run(guide.command(namespace));
    run(guide.command(install));
    examine(&stage, CLIENT.0, (PROBES, &pod_of(&node, PROBES, "probe")));
    stage.namespace.apply(&Stage::pod(CLIENT.0, CLIENT.1)).unwrap();
    Follower::start(&stage, CLIENT.1, "app", CLIENT.1).until("synced");
    page::shows(&guide.command(attach), "resource:configmaps", &format!("{}/{}", stage.namespace.name(), CLIENT.1));

    run(guide.command(back));
    stage.namespace.delete(&format!("pod/{}", CLIENT.1)).unwrap();
    eventually(|| expect(&before.differences(&all_objects(&node)), &Vec::new()));
}
