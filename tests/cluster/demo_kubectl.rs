//! kubectl with the demo: the commands that a new user tries first.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use observer_demo::{DemoConfig, DemoServer, Script, story};
use observer_tests::{kubectl, output_within};
use serde_json::{Value, json};
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn kubectl_creates_every_kind_with_its_generators() {
    let demo = Demo::start();
    demo.ok("create namespace made");
    demo.ok("create deployment web --image=web:1 --replicas=2 --port=80 -n made");
    demo.ok("create configmap settings --from-literal=a=b --from-literal=empty= -n made");
    demo.ok("create secret generic token --from-literal=a=b -n made");
    demo.ok("create secret docker-registry registry --docker-username=u --docker-password=p -n made");
    demo.ok("create serviceaccount robot -n made");
    demo.ok("create job once --image=once:1 -n made -- run --fast");
    demo.ok("create service clusterip inner --tcp=80:8080 -n made");
    demo.ok("create service nodeport outer --tcp=80:http -n made");
    demo.ok("create service externalname elsewhere --external-name=example.com -n made");
    demo.ok("run single --image=single:1 --env=A=b --labels=app=single -n made");
    demo.ok("expose deployment web --name=exposed --port=80 --target-port=8080 -n made");
    let web = demo.json("get deployment web -n made");
    assert_eq!(web["spec"]["replicas"], 2);
    assert_eq!(web["spec"]["template"]["spec"]["containers"][0]["ports"], json!([{"containerPort": 80}]));
    assert_eq!(demo.json("get configmap settings -n made")["data"], json!({"a": "b", "empty": ""}));
    assert_eq!(demo.json("get secret token -n made")["data"], json!({"a": "Yg=="}));
    assert_eq!(demo.json("get secret registry -n made")["type"], "kubernetes.io/dockerconfigjson");
    assert_eq!(demo.json("get job once -n made")["spec"]["template"]["spec"]["containers"][0]["command"], json!(["run", "--fast"]));
    let ports = |service: &str| demo.json(&format!("get service {service} -n made"))["spec"]["ports"].clone();
    assert_eq!(ports("inner"), json!([{"name": "80-8080", "protocol": "TCP", "port": 80, "targetPort": 8080}]));
    assert_eq!(ports("outer")[0]["targetPort"], "http");
    assert_eq!(ports("exposed")[0]["targetPort"], 8080);
    assert!(demo.ok("get all -n made").contains("pod/single"));
}

#[test]
fn kubectl_scales_updates_and_awaits_a_deployment() {
    let demo = Demo::start();
    demo.ok("create deployment web --image=web:1");
    demo.ok("rollout status deployment/web --timeout=20s");
    demo.ok("scale deployment/web --replicas=3");
    demo.ok("scale deployment/web --current-replicas=3 --replicas=4");
    demo.ok("set image deployment/web web=web:2");
    demo.ok("rollout restart deployment/web");
    demo.ok("rollout status deployment/web --timeout=20s");
    demo.ok("label deployment/web tier=front");
    demo.ok("annotate deployment/web note=here");
    demo.ok("patch deployment/web --type=json -p [{\"op\":\"remove\",\"path\":\"/metadata/annotations/note\"}]");
    demo.ok("rollout pause deployment/web");
    demo.ok("rollout resume deployment/web");
    let web = demo.json("get deployment web");
    assert_eq!((&web["spec"]["replicas"], &web["status"]["readyReplicas"]), (&json!(4), &json!(4)));
    assert_eq!(web["spec"]["template"]["spec"]["containers"][0]["image"], "web:2");
    assert_eq!((&web["metadata"]["labels"]["tier"], &web["metadata"]["annotations"]["note"]), (&json!("front"), &Value::Null));
    assert_eq!(demo.json("get deployment web --subresource=scale")["kind"], "Scale");
    assert!(demo.ok("describe deployment web").contains("4 desired | 4 updated"));
    assert!(demo.refused("scale deployment/web --current-replicas=9 --replicas=1").contains("Expected replicas to be 9"));
    demo.ok("delete deployment web");
    demo.ok("wait --for=delete deployment/web --timeout=10s");
}

#[test]
fn second_kubectl_apply_removes_omitted_fields() {
    let demo = Demo::start();
    demo.apply(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1", "b": "2"}}));
    demo.apply(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "3"}}));
    assert_eq!(demo.json("get configmap c")["data"], json!({"a": "3"}));
    demo.ok("create -f applied.json --dry-run=client");
    assert!(demo.refused("create -f applied.json").contains("already exists"));
    demo.ok("delete -f applied.json");
}

#[test]
fn kubectl_applies_server_side_and_creates_a_crd() {
    let demo = Demo::start();
    let widgets = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    demo.apply(&widgets);
    demo.ok("wait --for=condition=Established crd/widgets.example.com --timeout=10s");
    demo.apply(&json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "one"}, "spec": {"size": 2}}));
    demo.ok("apply --server-side -f applied.json --field-manager=other");
    assert_eq!(demo.json("get wd one")["spec"], json!({"size": 2}));
    demo.ok("patch wd one --type=merge -p {\"spec\":{\"size\":3}}");
    let rows = demo.ok("get widgets");
    assert!(rows.starts_with("NAME   AGE\none    "), "{rows}");
    demo.ok("delete crd widgets.example.com");
    // kubectl still has the discovery documents in its cache.
    assert!(demo.refused("get widgets").contains("could not find the requested resource"));
}

#[test]
fn kubectl_prints_names_and_ages_of_lists_and_watches() {
    let demo = Demo::start();
    demo.ok("create configmap a");
    demo.ok("create configmap b");
    let rows = demo.ok("get configmaps");
    assert!(rows.starts_with("NAME   AGE\na      "), "{rows}");
    assert_eq!(rows.lines().count(), 3, "{rows}");
    let names = demo.ok("get configmaps,namespaces --no-headers -o custom-columns=N:.metadata.name");
    assert_eq!(names.lines().count(), 6, "{names}");
    assert!(demo.ok("get configmaps --watch --request-timeout=2s").contains("b      "), "a watch prints rows, too");
}

#[test]
fn kubectl_prints_an_error_for_each_feature_the_demo_lacks() {
    let demo = Demo::start();
    demo.ok("run single --image=single:1");
    demo.apply(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}));
    for (arguments, words) in [
        ("logs single", "no container runs in the demo"),
        ("exec single -- ls", "no container runs in the demo"),
        ("debug single --image=x", "ephemeral containers are disabled for this cluster"),
        ("top pods", "Metrics API not available"),
        ("create token default", "serviceaccounts/token"),
        ("create ingress i --rule=a/b=c:80", "could not find the requested resource"),
        ("explain pods", "not found in OpenAPI schema"),
        ("auth can-i create pods", "could not find the requested resource"),
    ] {
        let said = demo.refused(arguments);
        assert!(said.contains(words), "{arguments}: {said}");
    }
}

/// A demo with its clients, and kubectl configured for it.
struct Demo {
    _server: DemoServer,
    _clients: tokio::runtime::Runtime,
    folder: TempDir,
    kubectl: PathBuf,
}

impl Demo {
    fn start() -> Self {
        let server = DemoServer::start(DemoConfig::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&kubeconfig).unwrap();
        file.write_all(server.kubeconfig().as_bytes()).unwrap();
        let clients = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let handle = server.handle();
        clients.spawn(async move {
            let rollouts = Script::parse("rollouts", "0s start rollouts rollout-controller/0.2").unwrap();
            story::play(&rollouts, handle, kubeconfig, 1, |_| {}).await
        });
        let kubectl = kubectl().expect("these tests need kubectl on the PATH");
        Self { _server: server, _clients: clients, folder, kubectl }
    }

    /// Standard output of a command that must succeed.
    #[track_caller]
    fn ok(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.ok(&format!("{arguments} -o json"))).unwrap()
    }

    /// Standard error of a command that must fail as kubectl does when the server refuses.
    #[track_caller]
    fn refused(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Applies an object, and writes it to `applied.json`.
    #[track_caller]
    fn apply(&self, object: &Value) {
        fs::write(self.folder.path().join("applied.json"), object.to_string()).unwrap();
        self.ok("apply -f applied.json");
    }

    #[track_caller]
    fn run(&self, arguments: &str) -> Output {
        let mut command = Command::new(&self.kubectl);
        command.args(arguments.split(' ')).current_dir(self.folder.path());
        command.env("KUBECONFIG", self.folder.path().join("kubeconfig")).env("HOME", self.folder.path());
        output_within(&mut command, LIMIT).unwrap()
    }
}
