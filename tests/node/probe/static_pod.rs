//! A static pod on a node: the kubelet starts it from a file, and reports it to the API server afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use observer_tests::node::Node;
use observer_tests::pod_client::PodClient;

use crate::chart::installed::eventually;
use crate::sidecar::stage::Stage;

/// The folder in which clients look for their credentials.
const CREDENTIALS: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// A static pod with a client. Its credentials are files of the node, because the kubelet gives no token to static pods. On drop, it ends.
pub(super) struct StaticPod<'s> {
    stage: &'s Stage<'s>,
    manifest: PathBuf,
    /// The name in the manifest.
    pub(super) workload: &'static str,
    /// The name of the pod: the name in the manifest, and that of the node.
    pub(super) name: String,
}

impl<'s> StaticPod<'s> {
    /// Starts it in the namespace of the stage. Its name is the user agent of its client, too.
    pub(super) fn start(stage: &'s Stage<'_>, client: PodClient, workload: &'static str) -> Self {
        let credentials = stage.node.folder().join(format!("{workload}-credentials"));
        write_credentials(stage, &credentials);
        let of_client = Stage::pod(client, workload);
        let manifest = of_client
            .replace("metadata:\n", &format!("metadata:\n  namespace: {}\n", stage.namespace.name()))
            // The kubelet refuses static pods with a ServiceAccount.
            .replace("  serviceAccountName: informer\n", "")
            + &format!(
                "    env:
    - {{name: KUBERNETES_SERVICE_HOST, value: '{}'}}
    - {{name: KUBERNETES_SERVICE_PORT, value: '443'}}
    volumeMounts: [{{name: credentials, mountPath: {CREDENTIALS}, readOnly: true}}]
  volumes: [{{name: credentials, hostPath: {{path: '{}'}}}}]
",
                stage.node.server_url().trim_start_matches("https://"),
                credentials.display()
            );
        let file = stage.node.static_pods().join(format!("{workload}.yaml"));
        fs::write(&file, manifest).unwrap();
        let name = format!("{workload}-{}", Node::NAME);
        stage.namespace.wait(&format!("pod/{name}"), "create").unwrap();
        Self { stage, manifest: file, workload, name }
    }
}

impl Drop for StaticPod<'_> {
    fn drop(&mut self) {
        fs::remove_file(&self.manifest).ok();
        if !std::thread::panicking() {
            let pods = format!("/api/v1/namespaces/{}/pods/{}", self.stage.namespace.name(), self.name);
            eventually(|| match self.stage.node.get(&pods) {
                Ok(_) => Err(format!("{} still exists", self.name)),
                Err(_) => Ok(()),
            });
        }
    }
}

/// The files that a pod of the ServiceAccount `informer` has.
fn write_credentials(stage: &Stage<'_>, folder: &Path) {
    fs::create_dir(folder).unwrap();
    let token = stage.namespace.kubectl(&["create", "token", "informer"]).unwrap();
    let files = [("token", token.trim()), ("ca.crt", stage.node.ca_pem()), ("namespace", stage.namespace.name())];
    for (name, content) in files {
        fs::write(folder.join(name), content).unwrap();
    }
}
