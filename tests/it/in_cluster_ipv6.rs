//! A sidecar in a pod of a cluster with IPv6 only: of IPv4, the pod has the loopback address.

use std::net::{IpAddr, Ipv6Addr};

use observer_tests::Network;
use observer_tests::scrape::Scraper;
use observer_tests::sidecar::Sidecar;
use rustix::process::Signal;

use super::in_cluster::{Pod, get, is_valid_for, until};
use super::upstream::{Upstream, VERSION};

const SERVICE: &str = "fd00:10:96::1";
/// The address at which kubelet and Prometheus reach the pod.
const POD: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x10, 0x244, 0, 0, 0, 0, 7);

#[test]
fn sidecar_of_a_pod_with_ipv6_leads_clients_and_answers_kubelet() {
    let service: Ipv6Addr = SERVICE.parse().unwrap();
    let Some(network) = Network::with_ipv6(&[service, POD]).unwrap() else { return };
    let inside = || {
        // `inject` writes `[::]`, since it does not know the family.
        let Some(pod) = Pod::with(Upstream::at(IpAddr::V6(service), SERVICE)) else { return Ok(()) };
        let arguments = ["--container", &pod.container(), "--metrics", "[::]:0"];
        let mut sidecar = Sidecar::start(&pod.volumes, pod.upstream.address(), &arguments)?;
        let announced = Scraper::announced_in(&sidecar.stderr_line_with("metrics: ")?)?.address();
        let probe = Scraper::at((POD, announced.port()).into());
        until("kubelet sees the start", || probe.get("/started", "").is_ok_and(|started| started.status == 200));
        let server = format!("[{SERVICE}]:{}", pod.upstream.address().port());
        sidecar.stderr_line_with(&format!("clients reach {server} through {}", pod.address()))?;

        let trusted = pod.volumes.trusted();
        let mut client = pod.client(&trusted);
        assert_eq!(get(&mut client, "/version"), VERSION);
        assert!(is_valid_for(&client, &trusted, SERVICE) && !is_valid_for(&client, &trusted, "fd00:10:96::2"));
        assert!(probe.scrape()?.text().contains(&server), "the metrics have the server's name");
        drop(client);
        sidecar.signal(Signal::TERM)?;
        let (status, stdout, stderr) = sidecar.wait()?;
        assert_eq!(status.code(), Some(0), "{stderr}");
        assert!(stdout.contains("version v1.34.4"), "{stdout}");
        Ok(())
    };
    network.inside(inside).unwrap();
}
