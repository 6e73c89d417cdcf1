//! A namespace with config maps, a ServiceAccount that may read them, and the images of watchtap and of clients.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Stdio;

use observer_tests::node::{Image, InPod, Namespace, Node, PodSecurity};
use observer_tests::pod_client::{Calls, PodClient, PodRoot, watchtap_root};
use observer_tests::watchtap;
use serde_json::{Value, json};

/// The image of the sidecar.
pub(crate) const WATCHTAP: &str = "localhost/watchtap:1";
/// The config map that clients get each second.
const GOT: &str = "cm-1";

/// A container's security context that satisfies Pod Security *restricted*.
pub(super) const HARDENED: &str = "{runAsNonRoot: true, runAsUser: 65532, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, \
                        capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}";

/// Where pods with a sidecar run.
pub(crate) struct Stage<'n> {
    pub(crate) node: &'n Node,
    pub(crate) namespace: Namespace<'n>,
}

impl<'n> Stage<'n> {
    /// A namespace that enforces *baseline*, without objects of ours.
    pub(crate) fn baseline(node: &'n Node, prefix: &str) -> Self {
        Self::empty(node, prefix, PodSecurity::Baseline)
    }

    /// A namespace that enforces this level, without objects of ours.
    pub(crate) fn empty(node: &'n Node, prefix: &str, security: PodSecurity) -> Self {
        let stage = Self { node, namespace: node.namespace(prefix, security).unwrap() };
        stage.load_watchtap(WATCHTAP);
        stage
    }

    /// Makes the image of watchtap available under this name.
    pub(crate) fn load_watchtap(&self, name: &str) {
        self.node.load(&image(name, &watchtap_root().unwrap())).unwrap();
    }

    /// A namespace that enforces *restricted*, with config maps, and a ServiceAccount that may read them.
    pub(crate) fn prepare(node: &'n Node, prefix: &str) -> Self {
        Self::with_objects(node, prefix, PodSecurity::Restricted)
    }

    /// The same in a namespace that enforces another level.
    pub(crate) fn with_objects(node: &'n Node, prefix: &str, security: PodSecurity) -> Self {
        let stage = Self::empty(node, prefix, security);
        let mut objects = String::from(
            "
apiVersion: v1
kind: ServiceAccount
metadata: {name: informer}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: informer}
rules: [{apiGroups: [''], resources: [configmaps], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: informer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: informer}
subjects: [{kind: ServiceAccount, name: informer}]
",
        );
        for name in ["cm-0", GOT, "cm-2", PodClient::PRINT_STORE] {
            objects += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\n".replace("NAME", name).as_str();
        }
        stage.namespace.apply(&objects).unwrap();
        stage
    }

    /// Makes the image of a client available. `None`, with a message, if this machine cannot build it.
    pub(crate) fn load(&self, client: PodClient) -> Option<()> {
        let root = client.root().unwrap()?;
        self.node.load(&image(&image_name(client), &root)).unwrap();
        Some(())
    }

    /// The manifest of a pod with a client.
    pub(crate) fn pod(client: PodClient, name: &str) -> String {
        Self::pod_of(name, &image_name(client), &format!("{name}, {GOT}"))
    }

    /// The manifest of a Deployment with one such pod.
    pub(crate) fn deployment(client: PodClient, name: &str) -> String {
        let pod = Self::pod(client, name);
        let spec = pod.split_once("spec:\n").unwrap().1;
        let spec = spec.trim_end().replace('\n', "\n    ");
        format!(
            "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
    {spec}
"
        )
    }

    /// The manifest of a pod with this image, and these arguments in YAML.
    pub(crate) fn pod_of(name: &str, image: &str, arguments: &str) -> String {
        format!(
            "apiVersion: v1
kind: Pod
metadata:
  name: {name}
spec:
  serviceAccountName: informer
  terminationGracePeriodSeconds: 5
  containers:
  - name: app
    image: {image}
    args: [{arguments}]
    securityContext: {HARDENED}
"
        )
    }

    /// The calls for objects of this namespace by the client with this user agent, of which another namespace may have one, too.
    pub(crate) fn calls(&self, user_agent: &str) -> Calls {
        let mut audit = self.node.audit_log().unwrap();
        audit.retain(|event| event["objectRef"]["namespace"] == self.namespace.name());
        Calls::of(&audit, user_agent)
    }

    /// Changes a config map, and returns its new resource version.
    pub(crate) fn change(&self, config_map: &str) -> String {
        let path = format!("/api/v1/namespaces/{}/configmaps/{config_map}", self.namespace.name());
        let before = self.node.get(&path).unwrap();
        let data = json!({"data": {"after": before["metadata"]["resourceVersion"]}});
        let headers = [("Content-Type", "application/merge-patch+json")];
        let changed = self.node.raw("PATCH", &path, &headers, data.to_string().as_bytes()).unwrap().success().unwrap();
        version(&changed.json().unwrap()).to_owned()
    }

    /// Kills the first container of a pod, by the list of its state, and waits until it runs again.
    #[track_caller]
    pub(crate) fn kill(&self, pod: &str, statuses: &str) {
        let object = self.namespace.object(&format!("pod/{pod}")).unwrap();
        let status = &object["status"][statuses][0];
        let restarts = status["restartCount"].as_u64().unwrap() + 1;
        self.namespace.signal(pod, InPod::Container(status["name"].as_str().unwrap()), "SIGKILL").unwrap();
        let restarted = format!("jsonpath={{.status.{statuses}[0].restartCount}}={restarts}");
        self.namespace.wait(&format!("pod/{pod}"), &restarted).unwrap();
        self.namespace.wait(&format!("pod/{pod}"), "condition=Ready").unwrap();
    }

    /// Name and resource version of each config map, from etcd.
    pub(crate) fn objects(&self) -> BTreeMap<String, String> {
        let list = self.node.get(&format!("/api/v1/namespaces/{}/configmaps", self.namespace.name())).unwrap();
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| (item["metadata"]["name"].as_str().unwrap().to_owned(), version(item).to_owned())).collect()
    }
}

/// Runs `watchtap inject` on a manifest.
#[track_caller]
pub(crate) fn inject(manifest: &str) -> String {
    let mut command = watchtap().unwrap();
    command
        .args(["inject", "--image", WATCHTAP, "--assume-token", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(manifest.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub(super) fn image_name(client: PodClient) -> String {
    format!("localhost/{client}:1")
}

fn image(name: &str, root: &PodRoot) -> Image {
    let entrypoint: Vec<&str> = root.command().iter().map(String::as_str).collect();
    let empty = Image::new(name).entrypoint(&entrypoint);
    root.folders().unwrap().into_iter().fold(empty, |image, (to, from)| image.copy(from, &to))
}

fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap()
}
