//! Every refusal, with its remedy.

use super::check::{deployment, inject, inject_with, options, refusal};
use crate::injection::{Options, Outcome};

const APP: &str = "containers:\n- name: app\n  image: example.com/app:1\n";

#[test]
fn pods_that_a_sidecar_would_break_are_refused() {
    for (spec, reason) in [
        ("hostNetwork: true\n", "hostNetwork: true"),
        ("hostNetwork: yes\n", "hostNetwork: true"),
        ("os: {name: windows}\n", "the pod runs on Windows"),
        ("nodeSelector: {kubernetes.io/os: windows}\n", "the pod runs on Windows"),
        ("securityContext: {windowsOptions: {}}\n", "the pod runs on Windows"),
        ("automountServiceAccountToken: false\n", "the pod sets automountServiceAccountToken: false"),
        ("volumes: [{name: watchtap-own, emptyDir: {}}]\n", "a volume has the name watchtap-own"),
        ("initContainers: [{name: watchtap, image: a}]\n", "a container has the name watchtap"),
        ("initContainers: [{name: app, image: a}]\n", "two containers have the name app"),
        ("initContainers: {}\n", "initContainers is not a list"),
        ("initContainers: [{name: 'a=b'}]\n", "an item of initContainers has no valid name"),
    ] {
        check(&format!("{spec}{APP}"), reason);
    }
    let affinity = |operator: &str| {
        let term = format!("{{matchExpressions: [{{key: kubernetes.io/os, operator: {operator}, values: [windows]}}]}}");
        let required = format!("requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}");
        format!("affinity: {{nodeAffinity: {{{required}}}}}\n{APP}")
    };
    check(&affinity("In"), "the pod runs on Windows");
    assert!(matches!(inject(&deployment(&affinity("NotIn"))).objects[0].outcome, Outcome::Injected { .. }));
    check("containers: []\n", "the list of containers is empty");
    let many: String = (0..129).flat_map(|number| ["- name: c".to_owned(), format!("{number}\n  image: a\n")]).collect();
    check(&format!("containers:\n{many}"), "the pod has 129 containers to observe");
    check("containers:\n- image: a\n", "an item of containers has no valid name");
}

#[test]
fn containers_that_a_sidecar_would_break_are_refused() {
    let folder = "/var/run/secrets/kubernetes.io/serviceaccount";
    for (lines, reason) in [
        ("image: ghcr.io/k8snetworkplumbingwg/multus-cni:v4", "container app installs a CNI plugin"),
        ("image: quay.io/jetstack/cert-manager-cainjector@sha256:0", "container app copies the API server's certificate"),
        (
            "volumeMounts: [{name: a, mountPath: /var/run/secrets/watchtap/own}]",
            "container app mounts /var/run/secrets/watchtap/own",
        ),
        (&format!("volumeMounts: [{{name: a, mountPath: {folder}/extra}}]"), "container app mounts a file within /var/run"),
        (
            &format!("volumeMounts: [{{name: a, mountPath: {folder}}}, {{name: b, mountPath: {folder}/}}]"),
            "container app has two mounts at",
        ),
        ("volumeMounts: [{name: a}]", "volumeMounts of container app has an item without mountPath"),
        ("env: {A: b}", "env of container app is not a list"),
        (
            "env: [{name: KUBERNETES_SERVICE_HOST, value: a}, {name: KUBERNETES_SERVICE_HOST, value: b}]",
            "container app sets KUBERNETES_SERVICE_HOST twice",
        ),
        ("env: [{name: KUBERNETES_SERVICE_HOST, value: ''}]", "container app sets KUBERNETES_SERVICE_HOST to nothing"),
        (
            "env: [{name: KUBERNETES_SERVICE_HOST, value: $(HOST)}]",
            "container app sets KUBERNETES_SERVICE_HOST by $(…), so its value is unknown here",
        ),
        ("env: [{name: KUBERNETES_SERVICE_HOST}]", "container app sets KUBERNETES_SERVICE_HOST to nothing"),
        ("env: [{name: HTTPS_PROXY, value: a}, {name: NO_PROXY}]", "container app has a proxy, and NO_PROXY without a value"),
        (
            "env: [{name: KUBERNETES_SERVICE_PORT, valueFrom: {fieldRef: {fieldPath: a}}}]",
            "container app sets KUBERNETES_SERVICE_PORT by valueFrom, so its value is unknown here",
        ),
        (
            "env: [{name: HTTPS_PROXY, value: a}, {name: NO_PROXY, valueFrom: {}}]",
            "container app has a proxy, and sets NO_PROXY by valueFrom",
        ),
    ] {
        let image = if lines.starts_with("image") { "" } else { "image: a\n  " };
        check(&format!("containers:\n- name: app\n  {image}{lines}\n"), reason);
    }
    let own = format!(
        "volumeMounts: [{{name: own, mountPath: {folder}}}]\nvolumes: [{{name: own, projected: {{sources: [{{serviceAccountToken: {{path: other}}}}]}}}}]"
    );
    check(
        &format!("containers:\n- name: app\n  image: a\n  {own}\n"),
        "the volume at /var/run/secrets/kubernetes.io/serviceaccount of container app has the file other",
    );
    let different =
        "containers:\n- name: app\n  image: a\n  env: [{name: KUBERNETES_SERVICE_HOST, value: a}]\n- name: other\n  image: a\n";
    check(different, "containers app and other have different addresses");
}

#[test]
fn certificate_of_another_api_server_is_refused() {
    let with = |env: &str, volume: &str| {
        let mounts = "volumeMounts: [{name: own, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]";
        deployment(&format!(
            "containers:\n- name: app\n  image: a\n  env: [{env}]\n  {mounts}\nvolumes: [{{name: own, {volume}}}]\n"
        ))
    };
    let own_address = "{name: KUBERNETES_SERVICE_HOST, value: api.example.com}";
    let config_map = |name: &str| format!("configMap: {{name: {name}, items: [{{key: a, path: ca.crt}}]}}");
    let projected = |source: &str| format!("projected: {{sources: [{{serviceAccountToken: {{path: token}}}}, {{{source}}}]}}");
    let (cluster, other, secret) = (config_map("kube-root-ca.crt"), config_map("other"), "secret: {secretName: other}");
    for (env, volume) in [("", other.as_str()), ("", &projected(&other)), (own_address, &other), (own_address, secret)] {
        let said = refusal(&with(env, volume), &options());
        assert!(said.contains("of container app has a ca.crt of its own, and the sidecar trusts only the cluster's"), "{said}");
    }
    for (env, volume) in
        [("", secret), ("", &projected(&cluster)), (own_address, &projected(&cluster)), (own_address, "emptyDir: {}")]
    {
        assert!(matches!(inject(&with(env, volume)).objects[0].outcome, Outcome::Injected { .. }), "{volume}");
    }
}

#[test]
fn objects_that_must_not_change_are_refused() {
    let text = deployment(APP);
    let in_system = text.replace("  name: web\n", "  name: web\n  namespace: kube-system\n");
    assert!(refusal(&in_system, &options()).starts_with("namespace kube-system"));
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n";
    for metadata in [
        "  annotations: {kubernetes.io/config.mirror: a}\n",
        "  annotations: {kubernetes.io/config.source: file}\n",
        "  ownerReferences: [{kind: Node, name: n}]\n",
    ] {
        let said = refusal(&format!("{pod}{metadata}spec:\n  containers:\n  - name: app\n    image: a\n"), &options());
        assert!(said.starts_with("a mirror pod"), "{said}");
    }
}

#[test]
fn clusters_without_native_sidecars_are_refused() {
    let with = |version: &str| Options { kubernetes: Some(version.parse().unwrap()), ..options() };
    assert!(refusal(&deployment(APP), &with("v1.28.9")).starts_with("Kubernetes 1.28 has no native sidecars"));
    for version in ["1.29", "1.33.1", "1.30+", "v2.0"] {
        assert!(matches!(inject_with(&deployment(APP), &with(version)).objects[0].outcome, Outcome::Injected { .. }), "{version}");
    }
    assert!("1".parse::<crate::injection::KubernetesVersion>().is_err());
}

#[test]
fn withheld_token_of_a_service_account_in_the_input_is_respected() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: quiet}\nautomountServiceAccountToken: false\n---\n";
    let text = format!("{account}{}", deployment(&format!("serviceAccountName: quiet\n{APP}")));
    assert!(refusal(&text, &options()).starts_with("ServiceAccount quiet sets automountServiceAccountToken: false"));
    let in_namespace = text.replace("metadata: {name: quiet}", "metadata: {name: quiet, namespace: shop}");
    assert!(refusal(&in_namespace, &options()).starts_with("ServiceAccount quiet sets automountServiceAccountToken: false"));
    for (text, options) in [
        (text.clone(), Options { service_account_token: true, ..options() }),
        (text.replace("serviceAccountName: quiet", "serviceAccountName: other"), options()),
        (
            text.replace("serviceAccountName: quiet", "serviceAccountName: quiet\n      automountServiceAccountToken: true"),
            options(),
        ),
    ] {
        assert!(matches!(inject_with(&text, &options).objects[0].outcome, Outcome::Injected { .. }), "{text}");
    }
}

#[test]
fn token_of_an_unknown_service_account_is_not_handed_out() {
    let unknown = Options { assume_token: false, ..options() };
    let text = deployment(&format!("serviceAccountName: other\n{APP}"));
    let said = refusal(&text, &unknown);
    assert!(
        said.starts_with("ServiceAccount other is not in the input") && said.ends_with("--assume-token if the pod has a token")
    );
    assert!(refusal(&deployment(APP), &unknown).starts_with("ServiceAccount default is not in the input"));
    let account = "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: other}\n";
    let own = "  volumeMounts: [{name: own, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]\n";
    // The owner has agreed to the token of an earlier injection.
    let before = inject(&text).text.replace("image: example.com/app:1", "image: example.com/app:2");
    for text in [format!("{text}{account}"), deployment(&format!("{APP}{own}")), before] {
        let edited = inject_with(&text, &unknown);
        assert!(matches!(edited.objects[0].outcome, Outcome::Injected { .. } | Outcome::UpToDate { .. }), "{:?}", edited.objects);
    }
}

/// The owner has agreed to it, and the outcome does not depend on what else is in the input.
#[test]
fn token_of_an_earlier_injection_is_not_withheld_later() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: quiet}\nautomountServiceAccountToken: false\n---\n";
    let given = Options { service_account_token: true, ..options() };
    for spec in ["automountServiceAccountToken: false\n", "serviceAccountName: quiet\n"] {
        let text = format!("{account}{}", deployment(&format!("{spec}{APP}")));
        let before = inject_with(&text, &given).text;
        // A record of an earlier version has no flags.
        for before in [before.clone(), before.replace(",\"flags\":{\"service_account_token\":true}", "")] {
            assert!(refusal(&text, &options()).contains("automountServiceAccountToken: false"));
            let again = inject_with(&before, &Options { assume_token: false, ..options() });
            assert!(matches!(again.objects[0].outcome, Outcome::UpToDate { .. }), "{:?}", again.objects);
            let newer = inject_with(&before, &Options { image: "localhost/watchtap:2".to_owned(), ..options() });
            assert!(matches!(newer.objects[0].outcome, Outcome::Updated { .. }), "{:?}", newer.objects);
            assert!(newer.text.contains("kube-api-access-watchtap"));
        }
    }
}

#[test]
fn all_ports_declared_are_refused() {
    let ports: String =
        (9643..16443).flat_map(|port| ["  - containerPort: ".to_owned(), port.to_string(), "\n".to_owned()]).collect();
    check(&format!("{APP}  ports:\n{ports}"), "the pod declares all ports that the sidecar could use");
}

#[test]
fn refused_object_does_not_keep_others_from_being_injected() {
    let text = format!("{}---\n{}", deployment(&format!("hostNetwork: true\n{APP}")), deployment(APP));
    let edited = inject(&text);
    assert!(
        matches!(edited.objects[0].outcome, Outcome::Refused(_)) && matches!(edited.objects[1].outcome, Outcome::Injected { .. })
    );
    assert!(edited.text.starts_with(text.split_once("---").unwrap().0) && edited.text.contains("watchtap.dev/injected"));
}

#[test]
fn object_that_is_refused_keeps_the_sidecar_that_it_had() {
    let list = |network: &str| {
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n  spec:\n{network}    containers:\n    - name: app\n      image: a\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: b\n  spec:\n    containers:\n    - name: app\n      image: a\n"
        )
    };
    let before = inject(&list("")).text;
    let changed = before.replacen("  spec:\n", "  spec:\n    hostNetwork: true\n", 1);
    let edited = inject_with(&changed, &Options { image: "localhost/watchtap:2".to_owned(), ..options() });
    assert!(
        matches!(edited.objects[0].outcome, Outcome::Refused(_)) && matches!(edited.objects[1].outcome, Outcome::Updated { .. })
    );
    assert_eq!((edited.text.matches("localhost/watchtap:1").count(), edited.text.matches("localhost/watchtap:2").count()), (1, 1));
}

#[track_caller]
fn check(spec: &str, reason: &str) {
    let said = refusal(&deployment(spec), &options());
    assert!(said.starts_with(reason), "{spec}\n{said}");
    assert!(said.contains("; "), "a remedy follows: {said}");
}
