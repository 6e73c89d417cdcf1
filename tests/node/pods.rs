//! Pods as a sidecar needs them: native sidecars, and Pod Security.

use std::fs::File;
use std::path::Path;

use observer_tests::node::{Image, Namespace, Node, PodSecurity};
use observer_tests::{Binaries, EtcdRelease, Minor};

/// A container's security context that satisfies Pod Security *restricted*.
const HARDENED: &str = "{runAsNonRoot: true, runAsUser: 65532, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, \
                        capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}";

#[test]
fn restricted_namespace_refuses_a_pod_without_hardening() {
    let node = Node::shared().unwrap();
    let namespace = node.namespace("refusing", PodSecurity::Restricted).unwrap();
    let refused = namespace.apply(&pod("{}")).unwrap_err().to_string();
    assert!(refused.contains("violates PodSecurity \"restricted:latest\""), "{refused}");
}

#[test]
fn hardened_pod_runs_in_a_restricted_namespace() {
    let node = Node::shared().unwrap();
    let namespace = node.namespace("restricted", PodSecurity::Restricted).unwrap();
    namespace.apply(&pod(HARDENED)).unwrap();
    namespace.wait("pod/app", "condition=Ready").unwrap();
}

#[test]
fn container_starts_after_its_native_sidecar_answers() {
    let node = Node::shared().unwrap();
    node.load(&web_server()).unwrap();
    let namespace = node.namespace("sidecar", PodSecurity::Baseline).unwrap();
    let manifest = format!(
        "
apiVersion: v1
kind: Pod
metadata: {{name: app}}
spec:
  initContainers:
  - name: sidecar
    image: {WEB_SERVER}
    restartPolicy: Always
    startupProbe: {{httpGet: {{path: /health, port: 2379}}, periodSeconds: 1}}
  containers: [{{name: app, image: 'localhost/pause:1'}}]
"
    );
    namespace.apply(&manifest).unwrap();
    namespace.wait("pod/app", "condition=Ready").unwrap();
    let [sidecar, app] = ["initContainerStatuses", "containerStatuses"].map(|kind| status(&namespace, kind));
    assert_eq!(sidecar["started"], true, "{sidecar}");
    let [sidecar, app] = [&sidecar, &app].map(|status| status["state"]["running"]["startedAt"].as_str().unwrap());
    // The probe's first attempt comes after its period of one second.
    assert!(sidecar < app, "the sidecar started at {sidecar}, the app at {app}");
}

#[test]
fn image_of_an_oci_layout_runs() {
    let node = Node::shared().unwrap();
    let folder = tempfile::tempdir().unwrap();
    // containerd writes an image as an OCI layout in an archive.
    let archive = folder.path().join("pause.tar");
    let mut export = node.command(Path::new("ctr")).unwrap();
    export.args(["--namespace", "k8s.io", "images", "export"]).arg(&archive).arg("localhost/pause:1");
    assert!(export.status().unwrap().success());
    let layout = folder.path().join("layout");
    tar::Archive::new(File::open(archive).unwrap()).unpack(&layout).unwrap();

    node.load_layout(&layout, "localhost/from-layout:1").unwrap();
    let namespace = node.namespace("layout", PodSecurity::Baseline).unwrap();
    namespace.apply(&pod("{}").replace("localhost/pause:1", "localhost/from-layout:1")).unwrap();
    namespace.wait("pod/app", "condition=Ready").unwrap();
}

fn pod(security: &str) -> String {
    format!(
        "
apiVersion: v1
kind: Pod
metadata: {{name: app}}
spec:
  containers:
  - name: app
    image: localhost/pause:1
    securityContext: {security}
"
    )
}

#[track_caller]
fn status(namespace: &Namespace<'_>, kind: &str) -> serde_json::Value {
    namespace.object("pod/app").unwrap()["status"][kind][0].clone()
}

pub(crate) const WEB_SERVER: &str = "localhost/etcd:1";

/// An image whose container answers HTTP at port 2379, writes a log, and ends on SIGTERM: the etcd that the tests have built.
pub(crate) fn web_server() -> Image {
    let etcd = Binaries::of_minor(Minor::DEFAULT, EtcdRelease::Current).unwrap().etcd;
    let anywhere = "http://0.0.0.0:2379";
    Image::new(WEB_SERVER).copy(etcd, "/etcd").entrypoint(&[
        "/etcd",
        "--data-dir=/tmp/data",
        &format!("--listen-client-urls={anywhere}"),
        &format!("--advertise-client-urls={anywhere}"),
        "--unsafe-no-fsync",
    ])
}
