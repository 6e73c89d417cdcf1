//! Every warning.

use super::check::{deployment, inject, inject_with, options};
use crate::injection::{Options, Outcome};

#[test]
fn effects_that_an_owner_may_not_expect_are_reported() {
    let automount = "automountServiceAccountToken: true\n";
    let app = "containers:\n- name: app\n  image: a\n";
    let text = |spec: &str, metadata: &str| deployment(spec).replace("  name: web\n", &format!("  name: web\n{metadata}"));
    for (spec, metadata, warning) in [
        (format!("{automount}{app}"), "", ""),
        (format!("{automount}{app}  args: [--kubeconfig=/etc/k]\n"), "", "container app has --kubeconfig"),
        (format!("{automount}{app}  command: [a, -master, b]\n"), "", "container app has -master"),
        (format!("{automount}{app}  command: [sh, -c, 'exec app --kubeconfig=/etc/k']\n"), "", "container app has --kubeconfig"),
        (format!("{automount}{app}  args: [--kubeconfig=]\n  env: [{{name: KUBECONFIG, value: ''}}]\n"), "", ""),
        (format!("{automount}{app}  env: [{{name: KUBECONFIG}}]\n"), "", ""),
        (
            format!("{automount}{app}  envFrom: [{{configMapRef: {{name: proxy}}}}]\n"),
            "",
            "container app takes variables from ConfigMap proxy: check that",
        ),
        (format!("{automount}{app}  envFrom: [{{prefix: APP_, configMapRef: {{name: proxy}}}}]\n"), "", ""),
        (format!("{automount}{app}  env: [{{name: KUBECONFIG, value: a}}]\n"), "", "container app has KUBECONFIG"),
        (format!("{automount}shareProcessNamespace: true\n{app}"), "", "shareProcessNamespace: true"),
        (format!("{automount}securityContext: {{runAsUser: 59643}}\n{app}"), "", "the pod sets runAsUser: 59643"),
        (
            format!("{automount}{app}- name: b\n  image: a\n  securityContext: {{runAsUser: 59643}}\n"),
            "",
            "container b sets runAsUser: 59643",
        ),
        (format!("{automount}{app}  securityContext: {{runAsUser: 65532}}\n"), "", ""),
        (format!("{automount}{app}"), "  labels: {argocd.argoproj.io/instance: a}\n", "Argo CD manages this object"),
        (format!("{automount}{app}"), "  annotations: {argocd.argoproj.io/tracking-id: a}\n", "Argo CD manages this object"),
        (format!("{automount}{app}"), "  labels: {kustomize.toolkit.fluxcd.io/name: a}\n", "Flux manages this object"),
        (
            format!("{automount}{app}"),
            "  ownerReferences: [{kind: Rollout, name: r}]\n",
            "Rollout r owns this object, and makes the next one without a sidecar: add the sidecar by the means of Rollout",
        ),
        (
            format!("{automount}{app}"),
            "  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: r}]\n",
            "StatefulSet r owns this object, and makes the next one without a sidecar: inject StatefulSet r",
        ),
        (
            format!("{automount}{app}"),
            "  ownerReferences: [{apiVersion: apps.kruise.io/v1, kind: StatefulSet, name: r}]\n",
            "StatefulSet r owns this object, and makes the next one without a sidecar: add the sidecar by the means of StatefulSet",
        ),
        (format!("{automount}{app}"), "  annotations: {meta.helm.sh/release-name: r}\n", ""),
        (format!("{automount}{app}"), "  uid: u\n  annotations: {meta.helm.sh/release-name: r}\n", "Helm manages this object"),
    ] {
        check(&text(&spec, metadata), warning);
    }
    let cni = |path: &str| {
        let volume = format!("volumes: [{{name: v, hostPath: {{path: {path}}}}}]\n");
        deployment(&format!("{automount}{app}  volumeMounts: [{{name: v, mountPath: /v}}]\n{volume}"))
    };
    for path in ["/etc/cni/net.d", "/opt/cni/bin/", "/etc//cni"] {
        check(&cni(path), "container app mounts the folder of CNI plugins");
    }
    check(&cni("/etc/cnidata"), "");
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, uid: u}\nspec:\n  automountServiceAccountToken: true\n  containers: [{name: app, image: a}]\n";
    let remedy = "inject the manifest that it came from, delete it, and create it from that manifest";
    check(pod, &format!("the API server refuses this change of an existing Pod: {remedy}"));
}

#[test]
fn variables_of_a_config_map_or_a_secret_are_reported_if_they_may_matter() {
    let check_from = |env: &str, source: &str, warning: &str| {
        let from = "envFrom: [{configMapRef: {name: c}}, {secretRef: {name: s}}]";
        let spec = format!("automountServiceAccountToken: true\ncontainers:\n- name: app\n  image: a\n  env: [{env}]\n  {from}\n");
        check(&format!("{}---\n{source}", deployment(&spec)), warning);
    };
    let config_map = |data: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{{data}}}\n");
    let secret = |data: &str| {
        let in_list = format!("{{apiVersion: v1, kind: Secret, metadata: {{name: s, namespace: shop}}, stringData: {{{data}}}}}");
        format!("---\napiVersion: v1\nkind: List\nitems: [{in_list}]\n")
    };
    let both = |of_config_map: &str, of_secret: &str| format!("{}{}", config_map(of_config_map), secret(of_secret));
    check_from(
        "",
        "",
        "container app takes variables from ConfigMap c and Secret s: check that KUBERNETES_SERVICE_HOST, KUBECONFIG",
    );
    check_from("", &config_map("A: b"), "container app takes variables from Secret s: check that");
    check_from("", &both("A: b, NO_PROXY: c", "B: c"), "");
    check_from("", &both("https_proxy: b", ""), "container app takes https_proxy from ConfigMap c: a client may use it");
    check_from("{name: HTTPS_PROXY, value: b}", &both("HTTPS_PROXY: b, HTTP_PROXY: b", ""), "");
    check_from("", &both("", "KUBECONFIG: a"), "container app takes KUBECONFIG from Secret s: its client does not read");
    let host = "container app takes KUBERNETES_SERVICE_HOST from Secret s: the sidecar connects to the cluster's API server";
    check_from("", &both("", "KUBERNETES_SERVICE_HOST: a"), host);
    check_from("{name: KUBERNETES_SERVICE_HOST, value: a}", &both("", "KUBERNETES_SERVICE_HOST: a"), "");
    let all = "{name: KUBERNETES_SERVICE_HOST, value: a}, {name: KUBECONFIG, value: ''}, {name: HTTPS_PROXY, value: b}";
    check_from(all, "", "");
    let two = "envFrom: [{secretRef: {name: s}}]";
    let spec = format!("containers:\n- name: app\n  image: a\n  {two}\n- name: other\n  image: a\n  {two}\n");
    check(&deployment(&spec), "containers app and other take variables from Secret s: check that");
}

#[test]
fn chosen_container_without_a_token_is_reported() {
    let mount = "volumeMounts: [{name: own, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]";
    let text = deployment(&format!(
        "automountServiceAccountToken: false\ncontainers:\n- name: app\n  image: a\n  {mount}\n- name: other\n  image: a\n"
    ));
    check(&text, "");
    let options = Options { containers: vec!["app".to_owned(), "other".to_owned()], ..options() };
    let object = inject_with(&text, &options).objects.remove(0);
    let Outcome::Injected { warnings, .. } = object.outcome else { panic!("{object:?}") };
    assert_eq!(
        warnings,
        ["container other has no token, so it is not observed; if it calls the API server, pass --service-account-token"]
    );
}

#[track_caller]
fn check(text: &str, warning: &str) {
    let object = inject(text).objects.remove(0);
    let Outcome::Injected { warnings, .. } = &object.outcome else { panic!("{object:?}\n{text}") };
    let is_expected = |said: &String| !warning.is_empty() && said.starts_with(warning);
    assert!(warnings.iter().all(is_expected) && warnings.is_empty() == warning.is_empty(), "{warnings:?}\n{text}");
}
