//! Pods with each property that admission decides by.

use serde_json::{Value, json};

use super::ground::{ADMITTED, NAMESPACE, REFUSED};
use crate::injection::oracle::SERVICE_ACCOUNT;

/// The reason for another container with the name of the sidecar.
const OUR_NAME: &str = "a container has the name watchtap";

/// The expected result for a pod.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expected {
    Injected,
    /// The annotation has this text.
    Refused(&'static str),
    Unchanged,
}

use Expected::{Injected, Refused, Unchanged};

pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) namespace: &'static str,
    pub(super) pod: Value,
    pub(super) expected: Expected,
}

/// All rows: with a pod, with a spec, with the members of one container, and with variables of one container.
pub(super) fn pods() -> Vec<Row> {
    let row = |name, expected, pod| Row { name, namespace: NAMESPACE, pod, expected };
    let mut rows: Vec<Row> = of_metadata().into_iter().map(|(name, expected, pod)| row(name, expected, pod)).collect();
    rows.extend(of_spec().into_iter().chain(of_volumes()).map(|(name, expected, spec)| row(name, expected, pod(spec))));
    let in_app = |members: Value| pod(json!({"containers": [with(container("app"), members)]}));
    rows.extend(of_container().into_iter().map(|(name, expected, members)| row(name, expected, in_app(members))));
    let env = |variables: Value| in_app(json!({"env": variables}));
    rows.extend(of_variables().into_iter().map(|(name, expected, variables)| row(name, expected, env(variables))));
    let simple = pod(json!({"containers": [container("app")]}));
    rows.push(Row { name: "kube-system", namespace: "kube-system", pod: simple, expected: Refused("namespace kube-system") });
    rows
}

type Rows = Vec<(&'static str, Expected, Value)>;

fn container(name: &str) -> Value {
    json!({"name": name, "image": "registry.example/app:1"})
}

fn pod(spec: Value) -> Value {
    let mut pod = json!({"metadata": {"name": "pod"}});
    pod["spec"] = spec;
    pod
}

/// The members of the second map replace those of the first.
fn with(mut one: Value, other: Value) -> Value {
    let Value::Object(members) = other else { panic!("{other} is no map") };
    one.as_object_mut().unwrap().extend(members);
    one
}

fn of_metadata() -> Rows {
    let of = |metadata: Value, spec: Value| {
        let spec = with(json!({"containers": [container("app")]}), spec);
        json!({"metadata": with(json!({"name": "pod"}), metadata), "spec": spec})
    };
    let annotated = |name: &str, value: &str| of(json!({"annotations": {name: value}}), json!({}));
    let owner = json!([{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "0"}]);
    let mirror = of(json!({"annotations": {"kubernetes.io/config.mirror": "0"}}), json!({"nodeName": "n"}));
    let outdated = of(json!({"annotations": {ADMITTED: "0.0.1"}}), json!({"hostNetwork": true}));
    let large = json!({"containers": (0..20).map(|number| container(&format!("c{number}"))).collect::<Vec<_>>()});
    vec![
        ("plain", Injected, of(json!({}), json!({}))),
        ("annotations", Injected, annotated("a/b", "c")),
        ("annotation of an earlier refusal", Injected, annotated(REFUSED, "reason; remedy")),
        ("annotation of an earlier admission", Refused("hostNetwork"), outdated),
        ("record of inject without its sidecar", Injected, annotated("watchtap.dev/injected", "{}")),
        ("mirror pod", Refused("a mirror pod"), mirror),
        ("pod of a file", Refused("a mirror pod"), annotated("kubernetes.io/config.source", "file")),
        ("pod of an API", Injected, annotated("kubernetes.io/config.source", "api")),
        ("pod of a node", Refused("a mirror pod"), of(json!({"ownerReferences": owner}), json!({}))),
        ("label", Injected, of(json!({"labels": {"app": "a"}}), json!({}))),
        ("20 containers", Injected, of(json!({}), large)),
    ]
}

fn of_spec() -> Rows {
    let of = |spec: Value| with(json!({"containers": [container("app")]}), spec);
    let affinity = |operator: &str, terms: usize, values: Value| {
        let windows = json!({"key": "kubernetes.io/os", "operator": operator, "values": values});
        let other = json!({"matchExpressions": [{"key": "zone", "operator": "Exists"}]});
        let terms: Vec<Value> = [json!({"matchExpressions": [windows]}), other].into_iter().take(terms).collect();
        let required = json!({"nodeSelectorTerms": terms});
        of(json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}))
    };
    let amounts = |cpu: &str, memory: &str| json!({"cpu": cpu, "memory": memory});
    let resources = |requests: Value, limits: Value| {
        let own = |name| with(container(name), json!({"resources": {"requests": requests, "limits": limits}}));
        json!({"initContainers": [own("init")], "containers": [own("app"), own("other")]})
    };
    let limit = amounts("1", "1Gi");
    let one_unlimited = with(resources(limit.clone(), limit.clone()), json!({"initContainers": [container("init")]}));
    let addressed =
        |name: &str, value: &str| with(container(name), json!({"env": [{"name": "KUBERNETES_SERVICE_HOST", "value": value}]}));
    let both_addressed = |one: &str, other: &str| json!({"containers": [addressed("app", one), addressed("other", other)]});
    let only_two_addressed =
        json!({"containers": [addressed("app", "10.0.0.9"), addressed("other", "10.0.0.9"), container("third")]});
    let many = |count: usize| (0..count).map(|number| container(&format!("c{number}"))).collect::<Vec<_>>();
    let sidecar = with(container("proxy"), json!({"restartPolicy": "Always"}));
    let ours = with(container("watchtap"), json!({"restartPolicy": "Always"}));
    let own_mount = json!({"volumeMounts": [{"name": "watchtap-own", "mountPath": "/var/run/secrets/watchtap/own"}]});
    let own_volume = json!({"volumes": [{"name": "watchtap-own", "emptyDir": {}}]});
    let with_own = |container: &Value, spec: Value| with(with(spec, own_volume.clone()), json!({"initContainers": [container]}));
    let our_sidecar = with(ours.clone(), own_mount.clone());
    let ordinary = with(container("watchtap"), own_mount);
    vec![
        ("init containers", Injected, of(json!({"initContainers": [container("init"), sidecar, container("last")]}))),
        ("several containers", Injected, json!({"containers": [container("a"), container("b"), container("c")]})),
        ("container of our name", Refused(OUR_NAME), json!({"containers": [container("app"), container("watchtap")]})),
        ("init container of our name", Refused(OUR_NAME), of(json!({"initContainers": [container("watchtap")]}))),
        ("native sidecar of our name", Refused(OUR_NAME), of(json!({"initContainers": [ours]}))),
        ("ordinary init container with our volume", Refused(OUR_NAME), with_own(&ordinary, of(json!({})))),
        ("our sidecar", Unchanged, with_own(&our_sidecar, of(json!({})))),
        ("host network", Refused("hostNetwork: true"), of(json!({"hostNetwork": true}))),
        ("no host network", Injected, of(json!({"hostNetwork": false}))),
        ("Windows by os", Refused("Windows"), of(json!({"os": {"name": "windows"}}))),
        ("Linux by os", Injected, of(json!({"os": {"name": "linux"}}))),
        ("Windows by selector", Refused("Windows"), of(json!({"nodeSelector": {"kubernetes.io/os": "windows"}}))),
        ("Windows by old selector", Refused("Windows"), of(json!({"nodeSelector": {"beta.kubernetes.io/os": "windows"}}))),
        ("Linux by selector", Injected, of(json!({"nodeSelector": {"kubernetes.io/os": "linux"}}))),
        ("Windows by options", Refused("Windows"), of(json!({"securityContext": {"windowsOptions": {}}}))),
        ("Windows by affinity", Refused("Windows"), affinity("In", 1, json!(["windows"]))),
        ("Windows by one of two terms", Injected, affinity("In", 2, json!(["windows"]))),
        ("Windows or Linux", Injected, affinity("In", 1, json!(["windows", "linux"]))),
        ("not Windows", Injected, affinity("NotIn", 1, json!(["windows"]))),
        ("affinity without terms for nodes", Injected, of(json!({"affinity": {"podAffinity": {}}}))),
        ("one address of several containers", Injected, both_addressed("10.0.0.9", "10.0.0.9")),
        (
            "different addresses",
            Refused("containers app and other have different addresses"),
            both_addressed("10.0.0.9", "10.0.0.8"),
        ),
        ("address of one container", Refused("such as --container third"), only_two_addressed),
        ("no token", Refused("no container mounts a token"), of(json!({"automountServiceAccountToken": false}))),
        ("too many containers", Refused("129 containers to observe"), json!({"containers": many(129)})),
        ("far too many containers", Refused("the pod has 1025 containers"), json!({"containers": many(1025)})),
        ("guaranteed", Injected, resources(limit.clone(), limit.clone())),
        ("guaranteed in other words", Injected, resources(amounts("1000m", "1024Mi"), amounts("1", "1073741824"))),
        ("guaranteed by limits", Injected, resources(json!({}), limit.clone())),
        ("burstable", Injected, resources(amounts("500m", "1Gi"), limit.clone())),
        ("limit for memory only", Injected, resources(json!({}), json!({"memory": "1Gi"}))),
        ("limit of zero", Injected, resources(amounts("0", "0"), amounts("0", "0"))),
        ("guaranteed but for one", Injected, one_unlimited),
        ("resources of the pod", Injected, of(json!({"resources": {"requests": limit.clone(), "limits": limit}}))),
        ("empty resources of the pod", Injected, of(json!({"resources": {}}))),
        ("user of the sidecar", Injected, of(json!({"securityContext": {"runAsUser": 59643}, "shareProcessNamespace": true}))),
    ]
}

/// Volumes, among them those with a token.
fn of_volumes() -> Rows {
    let volumes = |volumes: Value| json!({"containers": [container("app")], "volumes": volumes});
    let mounted = |name: &str, path: &str| json!({"name": name, "mountPath": path});
    let own = |env: Value, source: Value| {
        let app = with(container("app"), json!({"env": env, "volumeMounts": [mounted("own", SERVICE_ACCOUNT)]}));
        let (Value::Object(mut volume), name) = (source, json!("own")) else { panic!("a volume is a map") };
        volume.insert("name".to_owned(), name);
        json!({"containers": [app], "volumes": [volume]})
    };
    let address = json!([{"name": "KUBERNETES_SERVICE_HOST", "value": "api.example"}]);
    let (none, path) = (json!([]), |path: &str| json!({"path": path}));
    let token = |name: &str| json!({"serviceAccountToken": path(name)});
    let items = |file: &str| json!([{"key": "k", "path": file}]);
    let config_map = |name: &str, file: &str| json!({"configMap": {"name": name, "items": items(file)}});
    let projected = |sources: Value| json!({"projected": {"sources": sources}});
    let downward = |file: &str| json!({"downwardAPI": {"items": [{"path": file, "fieldRef": {"fieldPath": "metadata.name"}}]}});
    let (cluster, other) = (config_map("kube-root-ca.crt", "ca.crt"), config_map("other", "ca.crt"));
    let secret = json!({"secret": {"secretName": "other"}});
    let csi = |key: &str| json!([{"name": "v", "csi": {"driver": "d.example", "volumeAttributes": {key: "v"}}}]);
    let flex = json!([{"name": "v", "flexVolume": {"driver": "d/e", "options": {"$retainKeys": "v"}}}]);
    let long: &str = Box::leak("x".repeat(1_100).into_boxed_str());
    let second = |path: &str| {
        let app = with(container("app"), json!({"volumeMounts": [mounted("own", path), mounted("other", SERVICE_ACCOUNT)]}));
        let volumes = json!([{"name": "own", "emptyDir": {}}, {"name": "other", "emptyDir": {}}]);
        json!({"automountServiceAccountToken": false, "containers": [container("without"), app], "volumes": volumes})
    };
    let other_certificate = Refused("has a ca.crt of its own");
    vec![
        (
            "volume of our name",
            Refused("a volume has the name watchtap-trust"),
            volumes(json!([{"name": "watchtap-trust", "emptyDir": {}}])),
        ),
        (
            "two volumes of our names",
            Refused("the name kube-api-access-watchtap"),
            volumes(json!([
            {"name": "a", "emptyDir": {}}, {"name": "kube-api-access-watchtap", "emptyDir": {}}, {"name": "watchtap-own", "emptyDir": {}}])),
        ),
        ("volume of a driver", Injected, volumes(csi("key"))),
        ("directive in a volume", Unchanged, volumes(csi("$patch"))),
        ("directive in another volume", Unchanged, volumes(flex)),
        ("empty volume at the place", Injected, own(none.clone(), json!({"emptyDir": {}}))),
        ("token alone", Injected, own(none.clone(), projected(json!([token("token")])))),
        ("token and certificate", Injected, own(none.clone(), projected(json!([token("token"), cluster, downward("namespace")])))),
        (
            "certificate of services",
            Injected,
            own(none.clone(), projected(json!([token("token"), config_map("s", "service-ca.crt")]))),
        ),
        ("other file", Refused("has the file other,"), own(none.clone(), projected(json!([token("token"), token("other")])))),
        (
            "other file of a Secret",
            Refused("has the file f,"),
            own(none.clone(), json!({"secret": {"secretName": "s", "items": items("f")}})),
        ),
        ("other file of a ConfigMap", Refused("has the file f/g,"), own(none.clone(), config_map("kube-root-ca.crt", "f/g"))),
        ("other file of the downward API", Refused("has the file f,"), own(none.clone(), downward("f"))),
        ("file with other characters", Refused("has the file ??...?z,"), own(none.clone(), downward("ä\u{1F600}…\u{7f}z"))),
        ("file with the beginning of a flag", Refused("(a flag of `watchtap inject`"), own(none.clone(), downward("a--b"))),
        ("long name of a file", Refused("xxxxxxxx"), own(none.clone(), downward(long))),
        ("other certificate", other_certificate, own(none.clone(), projected(json!([token("token"), other])))),
        ("other certificate alone", other_certificate, own(none.clone(), other)),
        ("Secret", Injected, own(none, secret.clone())),
        ("Secret for another address", other_certificate, own(address.clone(), secret)),
        ("ConfigMap for another address", other_certificate, own(address.clone(), json!({"configMap": {"name": "c"}}))),
        ("cluster's certificate for another address", Injected, own(address.clone(), projected(json!([token("token"), cluster])))),
        ("empty volume for another address", Injected, own(address, json!({"emptyDir": {}}))),
        ("one container with a token", Injected, second("/other")),
        ("two mounts at the place", Refused("has two mounts at"), second(&format!("{SERVICE_ACCOUNT}/."))),
        (
            "other spelling of the place",
            Injected,
            json!({
            "automountServiceAccountToken": false,
            "containers": [with(container("app"), json!({"volumeMounts": [mounted("own", "/var/run//secrets/./kubernetes.io/serviceaccount/")]}))],
            "volumes": [{"name": "own", "emptyDir": {}}]}),
        ),
        ("mount within the place", Refused("mounts a file within"), second(&format!("{SERVICE_ACCOUNT}/a"))),
        ("mount at a needed place", Refused("mounts /var/run/secrets/watchtap/own,"), second("/var/run/secrets/watchtap/own/")),
        ("mount of the folder", Refused("mounts /var/run/secrets/watchtap,"), second("/var/run/secrets//watchtap")),
        ("mount beside the folder", Injected, second("/var/run/secrets/watchtap2")),
    ]
}

fn of_container() -> Rows {
    let ports = |ports: &[u16]| json!({"ports": ports.iter().map(|port| json!({"containerPort": port})).collect::<Vec<_>>()});
    let image = |image: &str| json!({"image": image});
    let cni = Refused("installs a CNI plugin");
    vec![
        ("ports of others", Injected, ports(&[80, 8080, 9642])),
        ("ports of the sidecar", Injected, ports(&[9643, 9644, 16443, 16445])),
        (
            "port of the node",
            Injected,
            json!({"ports": [{"containerPort": 80, "hostPort": 16443}, {"containerPort": 81, "hostPort": 9643}]}),
        ),
        ("CNI by image", cni, image("ghcr.io/k8snetworkplumbingwg/multus-cni:v4")),
        (
            "CNI by image with a digest",
            cni,
            image("localhost:5000/cni@sha256:0000000000000000000000000000000000000000000000000000000000000000"),
        ),
        ("CNI by image without a registry", cni, image("install_cni.x")),
        ("CNI by name", cni, json!({"name": "install-cni"})),
        ("cainjector", Refused("cert-manager's cainjector"), image("quay.io/jetstack/cert-manager-cainjector:v1")),
        ("part of a word", Injected, image("registry.example/cni/acnid-multus2:cni")),
        ("tag alone", Injected, image("registry.example/app:multus-cni")),
        ("name of a registry", Injected, image("cni.example:5000/app")),
        ("flags of a kubeconfig", Injected, json!({"args": ["--kubeconfig=/k"], "envFrom": [{"configMapRef": {"name": "c"}}]})),
        ("name with the beginning of a flag", Refused("(a flag of"), json!({"name": "a--cni"})),
    ]
}

fn of_variables() -> Rows {
    let set = |name: &str, value: &str| json!({"name": name, "value": value});
    let from = |name: &str| json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}});
    let (host, port) = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT");
    let proxy = set("HTTPS_PROXY", "proxy:3128");
    vec![
        ("variables", Injected, json!([set("A", "1"), set("URL", "https://$(KUBERNETES_SERVICE_HOST)"), from("B")])),
        ("address", Injected, json!([set("A", "1"), set(host, "10.0.0.9"), set(port, "6443")])),
        ("port alone", Injected, json!([set("KUBERNETES_SERVICE_PORT_HTTPS", "6443")])),
        ("address twice", Refused("sets KUBERNETES_SERVICE_HOST twice"), json!([set(host, "a"), set(host, "b")])),
        ("empty address", Refused("sets KUBERNETES_SERVICE_HOST to nothing"), json!([set(host, "")])),
        ("empty port", Refused("sets KUBERNETES_SERVICE_PORT to nothing"), json!([set(host, "a"), {"name": port}])),
        ("address by reference", Refused("by $(...), so its value"), json!([set(host, "$(HOST)")])),
        ("port by valueFrom", Refused("by valueFrom, so its value"), json!([from(port), set(host, "10.0.0.9")])),
        ("proxy", Injected, json!([proxy])),
        ("proxy by valueFrom", Injected, json!([from("all_proxy")])),
        ("no proxy without a proxy", Injected, json!([set("NO_PROXY", "example.com")])),
        ("no proxy", Injected, json!([set("NO_PROXY", "example.com, .svc"), proxy, set("A", "1")])),
        ("no proxy in lower case", Injected, json!([proxy, set("no_proxy", "example.com")])),
        ("both spellings", Injected, json!([set("no_proxy", "a"), proxy, set("NO_PROXY", "b")])),
        ("loopback without a proxy", Injected, json!([proxy, set("no_proxy", "a, 127.0.0.1 ,b"), set("NO_PROXY", "*")])),
        ("network of loopback", Injected, json!([proxy, set("NO_PROXY", "127.0.0.0/8")])),
        ("spaces", Injected, json!([proxy, set("NO_PROXY", " \u{a0}\t")])),
        ("empty no proxy", Refused("has a proxy, and NO_PROXY without a value"), json!([proxy, set("NO_PROXY", "")])),
        ("no proxy by valueFrom", Refused("sets no_proxy by valueFrom"), json!([proxy, from("no_proxy")])),
        ("no proxy twice", Refused("sets NO_PROXY twice"), json!([proxy, set("NO_PROXY", "a"), set("NO_PROXY", "b")])),
        (
            "address before proxy",
            Refused("sets KUBERNETES_SERVICE_HOST twice"),
            json!([proxy, set("NO_PROXY", ""), set(host, "a"), set(host, "b")]),
        ),
    ]
}
