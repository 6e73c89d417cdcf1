//! Objects that pass although nothing is injected into them: patches, and kinds that are unknown.

use super::check::{deployment, inject, inject_with, options, refusal, uninject};
use crate::injection::{Options, Outcome};

const APP: &str = "containers:\n- name: app\n  image: example.com/app:1\n";

/// An object of this kind, with a template of a pod.
fn with_template(api_version: &str, kind: &str) -> String {
    let template = "  template:\n    spec:\n      containers:\n      - name: app\n        image: a\n";
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: r}}\nspec:\n{template}")
}

/// The reason and the remedy for the only object, which passes.
#[track_caller]
fn passed(text: &str) -> String {
    let edited = inject(text);
    assert_eq!(edited.text, text);
    let [object] = edited.objects.as_slice() else { panic!("{:?}", edited.objects) };
    let Outcome::Passed(refusal) = &object.outcome else { panic!("{object:?}\n{text}") };
    format!("{}; {}", refusal.reason, refusal.remedy)
}

#[test]
fn template_of_an_unknown_kind_passes_with_a_remedy_for_its_kind() {
    let job_set = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nspec:\n  replicatedJobs:\n  - template:\n      spec:\n        containers:\n        - {name: app, image: a}\n";
    let template = "apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n- spec: {template: {spec: {containers: [{name: app, image: a}]}}}\n";
    for (text, said, remedy) in [
        (with_template("argoproj.io/v1alpha1", "Rollout"), "Rollout of argoproj.io", "if Rollout runs pods"),
        (with_template("apps.kruise.io/v1", "StatefulSet"), "StatefulSet of apps.kruise.io", "if StatefulSet runs pods"),
        (with_template("apps.openshift.io/v1", "DeploymentConfig"), "DeploymentConfig of", "replace it by a Deployment"),
        (job_set.to_owned(), "JobSet of jobset.x-k8s.io", "if JobSet runs pods"),
        (template.to_owned(), "Template of template.openshift.io", "process it first (`oc process`)"),
    ] {
        let report = passed(&text);
        assert!(report.starts_with(&format!("inject does not know {said}")), "{report}");
        assert!(report.contains(&format!("; {remedy}")), "{report}");
        let edited = uninject(&text);
        assert_eq!((edited.objects.len(), edited.others), (0, 1));
    }
    let other = Options { containers: vec!["other".to_owned()], ..options() };
    let edited = inject_with(&with_template("argoproj.io/v1alpha1", "Rollout"), &other);
    assert_eq!(edited.objects[0].outcome, Outcome::NotSelected);
    // The operator adds these containers to pods of its own.
    let prometheus = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nspec:\n  containers: [{name: app, image: a}]\n";
    let edited = inject(prometheus);
    assert_eq!((edited.objects.len(), edited.others), (0, 1));
}

#[test]
fn wrong_api_version_of_a_known_kind_is_refused() {
    for (api_version, kind, right) in
        [("v1", "Deployment", "apps/v1"), ("app/v1", "StatefulSet", "apps/v1"), ("apps/v1", "CronJob", "batch/v1")]
    {
        let report = refusal(&with_template(api_version, kind), &options());
        let expected = format!("apiVersion {api_version} has no {kind}, so the API server would refuse it; correct it to {right}");
        assert_eq!(report, expected);
    }
}

#[test]
fn patch_passes_because_its_base_has_the_sidecar() {
    let remedy = "; if its base is injected, nothing is to do; otherwise inject the output of `kustomize build`";
    let in_system = |text: &str| text.replace("  name: web\n", "  name: web\n  namespace: kube-system\n");
    for (text, reason) in [
        (deployment("containers:\n- name: app\n  resources: {}\n"), "container app has no image"),
        (deployment(&format!("$patch: replace\n{APP}")), "the pod has $patch"),
        (in_system(&deployment(&format!("{APP}  $setElementOrder/env: []\n"))), "the pod has $setElementOrder/env"),
        (deployment("nodeSelector: {a: b}\n"), "the pod has no containers"),
        (
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n".to_owned(),
            "the object has no pod template",
        ),
    ] {
        assert_eq!(passed(&text), format!("{reason}, as in a patch{remedy}"));
        let edited = uninject(&text);
        assert_eq!((edited.objects[0].outcome.clone(), edited.text), (Outcome::NotInjected, text));
    }
}

#[test]
fn objects_are_reported_in_the_order_of_their_lines() {
    let rollout = with_template("argoproj.io/v1alpha1", "Rollout");
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}\n", rollout.trim_end().replace('\n', "\n  "));
    let text = format!("a: b\n---\n{list}---\n{}---\n{rollout}", deployment(APP));
    let lines: Vec<(usize, String)> = inject(&text).objects.into_iter().map(|object| (object.line, object.kind)).collect();
    let expected = [(6, "Rollout"), (16, "Deployment"), (29, "Rollout")];
    assert_eq!(lines, expected.map(|(line, kind)| (line, kind.to_owned())));
}

#[test]
fn every_object_has_the_names_of_its_containers() {
    let text = format!(
        "{}---\n{}---\n{}",
        deployment(&format!("initContainers: [{{name: migrate, image: a}}]\n{APP}")),
        deployment(&format!("hostNetwork: true\n{APP}")),
        with_template("argoproj.io/v1alpha1", "Rollout")
    );
    let injected = inject(&text);
    for edited in [&injected, &inject(&injected.text)] {
        let containers: Vec<Vec<String>> = edited.objects.iter().map(|object| object.containers.clone()).collect();
        assert_eq!(containers, [&["migrate", "app"][..], &["app"], &["app"]]);
    }
}
