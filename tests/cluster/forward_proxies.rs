//! The real API server behind a forward proxy that is the only route to it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use observer_tests::scripted_forward_proxy::{Protocol, ProxyReply, ScriptedForwardProxy, authorization};
use observer_tests::{Cluster, Lines, kubectl, output_within, wait_within, watchtap};
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_mins(1);
const WHOAMI: [&str; 4] = ["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"];
/// A name that only the proxy resolves.
const SERVER: &str = "api.invalid:6443";

#[test]
fn kubectl_connects_through_http_connect_with_credentials() {
    let place = Fixture::new(Protocol::Http, "http", AddressIn::Kubeconfig);
    place.check_kubectl();
    for head in place.proxy.asked() {
        assert!(head.starts_with(&format!("CONNECT {SERVER} HTTP/1.1\r\n")), "{head}");
        assert!(head.contains(&authorization("me", "s3cret")), "{head}");
    }
}

#[test]
fn kubectl_connects_through_socks_with_credentials() {
    let place = Fixture::new(Protocol::Socks5(Some(("me", "s3cret"))), "socks5", AddressIn::Kubeconfig);
    place.check_kubectl();
    assert!(place.proxy.asked().iter().all(|asked| asked == SERVER), "{:?}", place.proxy.asked());
}

/// kubectl has the proxy in its own environment, and must connect to watchtap without it.
#[test]
fn kubectl_connects_through_the_environment_proxy() {
    let place = Fixture::new(Protocol::Http, "http", AddressIn::Environment);
    place.check_kubectl();
    place.only_the_api_server_was_asked_for();
}

#[test]
fn kube_rs_client_bypasses_its_environment_proxy_to_reach_watchtap() {
    for via in ["server", "proxy-url"] {
        let place = Fixture::new(Protocol::Http, "http", AddressIn::Environment);
        place.check_kube_rs(via);
        place.only_the_api_server_was_asked_for();
    }
}

/// The place where the user configured the proxy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AddressIn {
    Kubeconfig,
    Environment,
}

struct Fixture {
    folder: TempDir,
    kubeconfig: PathBuf,
    proxy: ScriptedForwardProxy,
    /// The value of `HTTPS_PROXY`.
    environment: Option<String>,
}

impl Fixture {
    fn new(protocol: Protocol, scheme: &str, address_in: AddressIn) -> Self {
        let cluster = Cluster::shared().unwrap();
        let proxy = ScriptedForwardProxy::start(protocol, ProxyReply::Connect(cluster.socket_address())).unwrap();
        // The address is a name, because kube-rs compares the proxy's address with the `NO_PROXY` entries, which include loopback.
        let address = format!("{scheme}://me:s3cret@localhost:{}", proxy.address.port());
        let in_kubeconfig = (address_in == AddressIn::Kubeconfig).then(|| format!("\n    proxy-url: '{address}'"));
        let fields = format!("server: https://{SERVER}\n    tls-server-name: 127.0.0.1{}", in_kubeconfig.unwrap_or_default());
        let text = fs::read_to_string(cluster.kubeconfig_token().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        fs::write(&kubeconfig, text.replace(&format!("server: {}", cluster.server_url()), &fields)).unwrap();
        let environment = (address_in == AddressIn::Environment).then_some(address);
        Self { folder, kubeconfig, proxy, environment }
    }

    #[track_caller]
    fn check_kubectl(&self) {
        let kubectl = kubectl().expect("these tests need kubectl on the PATH");
        let output = output_within(self.exec("server").arg(kubectl).args(WHOAMI), LIMIT).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "admin", "{said}");
        assert!(!said.contains("s3cret"), "{said}");
        let report = self.report();
        assert!(report.contains("selfsubjectreviews") && !report.contains("s3cret"), "{report}");
        assert!(!self.proxy.asked().is_empty(), "there is no other way");
    }

    #[track_caller]
    fn check_kube_rs(&self, via: &str) {
        const NAMESPACE: &str = "forward-proxies";
        let cluster = Cluster::shared().unwrap();
        cluster.create_configmaps(NAMESPACE, 1).unwrap();
        let mut command = self.exec(via);
        command.args([env!("CARGO_BIN_EXE_kube-watcher"), NAMESPACE, "1"]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = Lines::of(child.stdout.take().unwrap(), LIMIT);
        while lines.next_line().unwrap().expect("it lists") != "initial-list-done" {}
        cluster
            .raw(
                "PATCH",
                &format!("/api/v1/namespaces/{NAMESPACE}/configmaps/cm-0"),
                &[("Content-Type", "application/merge-patch+json")],
                format!(r#"{{"data": {{"via": "{via}"}}}}"#).as_bytes(),
            )
            .unwrap()
            .success()
            .unwrap();
        assert!(lines.next_line().unwrap().expect("it watches").starts_with("applied cm-0 "));
        assert!(wait_within(&mut child, LIMIT).unwrap().success());
        assert!(self.report().contains("configmaps"), "{via}: it went past us");
    }

    #[track_caller]
    fn only_the_api_server_was_asked_for(&self) {
        let asked = self.proxy.asked();
        assert!(asked.iter().all(|head| head.starts_with(&format!("CONNECT {SERVER} "))), "{asked:?}");
    }

    /// `watchtap exec` without the command.
    fn exec(&self, via: &str) -> Command {
        let mut command = watchtap().unwrap();
        command.args(["exec", "--via", via, "--report"]).arg(self.folder.path().join("report")).arg("--");
        for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"] {
            command.env_remove(name);
        }
        command.envs(self.environment.as_ref().map(|address| ("HTTPS_PROXY", address)));
        command.env("KUBECONFIG", &self.kubeconfig).env("HOME", self.folder.path()).stdin(Stdio::null());
        command
    }

    fn report(&self) -> String {
        fs::read_to_string(self.folder.path().join("report")).unwrap()
    }
}
