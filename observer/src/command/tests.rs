//! What commands have in common, without a socket.

use std::collections::BTreeSet;

use super::listen_port::candidates;
use crate::kubeconfig::{Kubeconfig, Selected, ServerTrust};

#[test]
fn the_port_of_an_api_server_is_the_same_in_every_run() {
    let ports: Vec<u16> = candidates(&server("https://10.0.0.1:6443")).collect();
    assert_eq!(ports.first(), Some(&61_035), "written down, since caches rest on it");
    assert_eq!(ports, candidates(&server("https://10.0.0.1:6443")).collect::<Vec<_>>());
    let (any, derived) = ports.split_last().unwrap();
    assert_eq!(*any, 0, "at last whatever is free");
    assert!(derived.iter().all(|port| *port >= 61_000), "{derived:?}");
}

#[test]
fn servers_that_differ_in_anything_have_ports_of_their_own() {
    let servers = [
        "https://10.0.0.1:6443",
        "https://10.0.0.1:6444",
        "https://10.0.0.2:6443",
        "https://a",
        "https://a/k8s/1",
        "https://a/k8s/2",
    ];
    let ports: BTreeSet<u16> = servers.iter().filter_map(|url| candidates(&server(url)).next()).collect();
    assert_eq!(ports.len(), servers.len());
}

#[track_caller]
fn server(url: &str) -> Selected {
    Kubeconfig::of_server(url, &ServerTrust::Anybody, "--upstream").unwrap().current().unwrap()
}
