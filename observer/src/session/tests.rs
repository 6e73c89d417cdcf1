//! Tests of the parts of a session that need no listener.

use std::collections::BTreeSet;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::listen_port;
use super::private_folder::folder_variable;
use super::tap_set::learned;
use crate::api_server::name_behind;
use crate::forward_proxy::ForwardProxy;
use crate::kubeconfig::{Kubeconfig, Selected, ServerTrust};

#[test]
fn port_of_an_api_server_is_stable_across_runs() {
    let ports: Vec<u16> = candidates(&server("https://10.0.0.1:6443")).collect();
    assert_eq!(ports.first(), Some(&61_035), "written down, since caches rest on it");
    assert_eq!(ports, candidates(&server("https://10.0.0.1:6443")).collect::<Vec<_>>());
    let (any, derived) = ports.split_last().unwrap();
    assert_eq!(*any, 0, "at last whatever is free");
    assert!(derived.iter().all(|port| *port >= 61_000), "{derived:?}");
}

#[test]
fn different_servers_get_different_ports() {
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

#[test]
fn the_same_address_behind_two_forward_proxies_is_two_servers() {
    let server = server("https://127.0.0.1:6443");
    let proxies = ["socks5://bastion-1", "socks5://bastion-2", "http://me:s3cret@bastion-1:1080", "http://you@bastion-1:1080"];
    let proxies = proxies.map(|address| ForwardProxy::parse(address).unwrap());
    let behind = || std::iter::once(None).chain(proxies.iter().map(Some));
    let names: Vec<String> = behind().map(|proxy| name_behind(&server, proxy)).collect();
    let http = "127.0.0.1:6443 via http://bastion-1:1080";
    let [first, second] = ["127.0.0.1:6443 via socks5://bastion-1:1080", "127.0.0.1:6443 via socks5://bastion-2:1080"];
    assert_eq!(names, ["127.0.0.1:6443", first, second, http, http]);
    let ports: BTreeSet<u16> = behind().filter_map(|proxy| listen_port::candidates(&server, proxy).next()).collect();
    assert_eq!(ports.len(), 4, "who we are to a proxy makes no other server");
}

#[test]
fn reported_variable_is_the_one_that_chose_the_folder() {
    let socket = Path::new("/run/user/1000/watchtap/credentials");
    assert_eq!(folder_variable(socket, Some(Path::new("/run/user/1000"))), "XDG_RUNTIME_DIR");
    assert_eq!(folder_variable(socket, Some(Path::new("/run/user/1001"))), "TMPDIR", "it was unusable");
    assert_eq!(folder_variable(socket, Some(Path::new(""))), "TMPDIR", "it is relative");
    assert_eq!(folder_variable(socket, None), "TMPDIR");
}

#[tokio::test]
async fn pending_version_request_is_awaited_at_shutdown() {
    let (leaving, mut learning) = (watch::Sender::new(false), JoinSet::new());
    let (answer, answered) = oneshot::channel();
    learning.spawn(async move { answered.await.unwrap() });
    let mut left = leaving.subscribe();
    learning.spawn(async move { assert!(*left.wait_for(|leaving| *leaving).await.unwrap()) });
    let mut learned = pin!(learned(&mut learning, &leaving));
    assert!(timeout(Duration::from_millis(50), &mut learned).await.is_err(), "one has not answered yet");
    answer.send(()).unwrap();
    timeout(Duration::from_secs(10), learned).await.expect("the other does not wait for a client any more");
}

fn candidates(selected: &Selected) -> impl Iterator<Item = u16> {
    listen_port::candidates(selected, None)
}

#[track_caller]
fn server(url: &str) -> Selected {
    Kubeconfig::of_server(url, &ServerTrust::Anybody, "--upstream").unwrap().current().unwrap()
}
