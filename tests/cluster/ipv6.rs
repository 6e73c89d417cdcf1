//! An API server at an IPv6 address.

use std::net::Ipv6Addr;
use std::sync::OnceLock;
use std::time::Duration;

use observer_tests::{Cluster, ConfigMapController, Options, RunSession, kubectl, output_within, watchtap};

use super::eventually::{eventually, listed};

const LIMIT: Duration = Duration::from_mins(1);
const NAMESPACE: &str = "sixth";
const WHOAMI: [&str; 4] = ["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"];

#[test]
fn kubectl_reaches_an_ipv6_api_server_with_each_credential() {
    let cluster = cluster();
    let kubectl = kubectl().expect("these tests need kubectl on the PATH");
    for via in ["server", "proxy-url"] {
        for (kubeconfig, user) in
            [(cluster.kubeconfig_token().unwrap(), "admin"), (cluster.kubeconfig_client_cert().unwrap(), "certificate-admin")]
        {
            let mut command = watchtap().unwrap();
            command.args(["exec", "--via", via, "--"]).arg(&kubectl).args(WHOAMI).env("KUBECONFIG", kubeconfig);
            let output = output_within(&mut command, LIMIT).unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), user, "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn kube_rs_controller_watches_an_ipv6_api_server() {
    let cluster = cluster();
    cluster.create_configmaps(NAMESPACE, 3).unwrap();
    let session = RunSession::start(&cluster.kubeconfig_token().unwrap(), &[]).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let controller = runtime.block_on(ConfigMapController::start(session.kubeconfig(), None, NAMESPACE)).unwrap();
    let knows = |count: usize| {
        let objects = eventually(|| Some(controller.objects()).filter(|objects| objects.len() == count));
        assert_eq!(objects, Some(listed(cluster, NAMESPACE)));
    };
    knows(3);
    cluster.create_configmaps(NAMESPACE, 5).unwrap();
    knows(5);
    drop((controller, runtime));
    let report = session.finish().unwrap();
    assert!(report["requests"].as_array().unwrap().iter().any(|request| request["watch"]["added"] == 2), "{report:#}");
}

/// One cluster for the tests of this file.
fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| {
        let cluster = Cluster::start(&Options { address: Ipv6Addr::LOCALHOST.into(), ..Options::default() }).unwrap();
        assert!(cluster.server_url().starts_with("https://[::1]:"), "{}", cluster.server_url());
        cluster
    })
}
