//! Every warning.

use super::check::{deployment, inject};
use crate::injection::{ObjectOutcome, Outcome};

#[test]
fn effects_that_an_owner_may_not_expect_are_reported() {
    let automount = "automountServiceAccountToken: true\n";
    let app = "containers:\n- name: app\n";
    let text = |spec: &str, metadata: &str| deployment(spec).replace("  name: web\n", &format!("  name: web\n{metadata}"));
    for (spec, metadata, warning) in [
        (format!("{automount}{app}"), "", ""),
        (app.to_owned(), "", "ServiceAccount default is not in the input"),
        (format!("serviceAccountName: web\n{app}"), "", "ServiceAccount web is not in the input"),
        (format!("{automount}{app}  args: [--kubeconfig=/etc/k]\n"), "", "container app is given --kubeconfig"),
        (format!("{automount}{app}  command: [a, -master, b]\n"), "", "container app is given -master"),
        (format!("{automount}{app}  env: [{{name: KUBECONFIG, value: a}}]\n"), "", "container app is given KUBECONFIG"),
        (format!("{automount}shareProcessNamespace: true\n{app}"), "", "shareProcessNamespace: true"),
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
            "  ownerReferences: [{kind: StatefulSet, name: r}]\n",
            "StatefulSet r owns this object, and makes the next one without a sidecar: inject StatefulSet r",
        ),
        (format!("{automount}{app}"), "  annotations: {meta.helm.sh/release-name: r}\n", ""),
        (format!("{automount}{app}"), "  uid: u\n  annotations: {meta.helm.sh/release-name: r}\n", "Helm manages this object"),
    ] {
        check(&text(&spec, metadata), warning);
    }
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, uid: u}\nspec:\n  automountServiceAccountToken: true\n  containers: [{name: app}]\n";
    check(pod, "the API server refuses this change of an existing Pod");
}

#[test]
fn unknown_service_account_is_reported_once() {
    let text = |namespace: &str, account: &str| {
        let spec = format!("serviceAccountName: {account}\ncontainers:\n- name: app\n");
        deployment(&spec).replace("  name: web\n", &format!("  name: web\n  namespace: {namespace}\n"))
    };
    let documents = [text("a", "one"), text("a", "one"), text("b", "one"), text("a", "two"), text("b", "one")];
    let warned: Vec<bool> = inject(&documents.join("---\n")).objects.iter().map(has_warnings).collect();
    assert_eq!(warned, [true, false, true, true, false]);
}

fn has_warnings(object: &ObjectOutcome) -> bool {
    let Outcome::Injected { warnings, .. } = &object.outcome else { panic!("{object:?}") };
    assert!(warnings.iter().all(|warning| warning.starts_with("ServiceAccount ")), "{warnings:?}");
    !warnings.is_empty()
}

#[track_caller]
fn check(text: &str, warning: &str) {
    let object = inject(text).objects.remove(0);
    let Outcome::Injected { warnings, .. } = &object.outcome else { panic!("{object:?}\n{text}") };
    let is_expected = |said: &String| !warning.is_empty() && said.starts_with(warning);
    assert!(warnings.iter().all(is_expected) && warnings.is_empty() == warning.is_empty(), "{warnings:?}\n{text}");
}
