//! The output of `watchtap status`.

use expect_test::expect;

use crate::coverage::Admission;
use crate::coverage::tests::{few, no_rules, none};
use crate::view::{Colour, coverage_json, coverage_text};

#[test]
fn text_has_totals_workloads_and_each_reason() {
    expect![[r"
        3 pods in namespace shop request a sidecar: 1 with, 2 without · 2 more finished without one · 1 more being deleted
        webhook: w

        NAMESPACE  WORKLOAD         WITH  WITHOUT  FINISHED  BEING DELETED
        shop       StatefulSet web     1        2         2              1

        NAMESPACE  POD    SIDECAR                VERSION
        shop       web-2  refused                -
          the pod runs on Windows; watchtap runs on Linux only
        shop       web-3  none                   -
          the pod is older than the webhook w; restart the workload (kubectl rollout restart)
        shop       web-1  running                0.0.9
        shop       web-4  none, pod finished     -
        shop       web-5  refused, pod finished  -
          the pod runs on Windows; watchtap runs on Linux only
        shop       web-0  none, being deleted    -

        1 sidecar from another version than 0.1.0; a restart of the workload updates it
    "]]
    .assert_eq(coverage_text(&few(), Colour::Off).as_str());
}

#[test]
#[expect(clippy::too_many_lines, reason = "the document of six pods is one text")]
fn json_has_the_same() {
    expect![[r#"
        {
          "schema": "watchtap.status/v1",
          "watchtap": "0.1.0",
          "namespace": "shop",
          "label": "watchtap.dev/inject=enabled",
          "with": 1,
          "without": 2,
          "finished_without": 2,
          "being_deleted": 1,
          "admission": {
            "rules": [
              {
                "kind": "webhook",
                "name": "w",
                "has_ca_bundle": true
              }
            ]
          },
          "workloads": [
            {
              "namespace": "shop",
              "kind": "StatefulSet",
              "name": "web",
              "with": 1,
              "without": 2,
              "finished_without": 2,
              "being_deleted": 1
            }
          ],
          "pods": [
            {
              "namespace": "shop",
              "name": "web-2",
              "workload": {
                "kind": "StatefulSet",
                "name": "web"
              },
              "sidecar": "refused",
              "counts": "without",
              "why": "the pod runs on Windows; watchtap runs on Linux only"
            },
            {
              "namespace": "shop",
              "name": "web-3",
              "workload": {
                "kind": "StatefulSet",
                "name": "web"
              },
              "sidecar": "none",
              "counts": "without",
              "why": "the pod is older than the webhook w",
              "remedy": "restart the workload (kubectl rollout restart)"
            },
            {
              "namespace": "shop",
              "name": "web-1",
              "workload": {
                "kind": "StatefulSet",
                "name": "web"
              },
              "sidecar": "running",
              "counts": "with",
              "version": "0.0.9"
            },
            {
              "namespace": "shop",
              "name": "web-4",
              "workload": {
                "kind": "StatefulSet",
                "name": "web"
              },
              "sidecar": "none",
              "counts": "finished-without",
              "why": "the pod is older than the webhook w",
              "remedy": "restart the workload (kubectl rollout restart)"
            },
            {
              "namespace": "shop",
              "name": "web-5",
              "workload": {
                "kind": "StatefulSet",
                "name": "web"
              },
              "sidecar": "refused",
              "counts": "finished-without",
              "why": "the pod runs on Windows; watchtap runs on Linux only"
            },
            {
              "namespace": "shop",
              "name": "web-0",
              "workload": {
                "kind": "StatefulSet",
                "name": "web"
              },
              "sidecar": "none",
              "counts": "being-deleted",
              "why": "the pod is older than the webhook w",
              "remedy": "restart the workload (kubectl rollout restart)"
            }
          ]
        }
    "#]]
    .assert_eq(coverage_json(&few()).unwrap().as_str());
}

#[test]
fn without_a_pod_it_states_how_to_request_a_sidecar() {
    expect![[r#"
        no pod in namespace shop requests a sidecar
        webhook: none, and no policy; nothing adds a sidecar to pods with the label watchtap.dev/inject

        First install the webhook with the chart (deploy/README.md).
        Label the pods of a workload to request a sidecar. Its pods are replaced, and each new one gets its own:

            kubectl patch deployment NAME --namespace shop --type merge --patch '{"spec":{"template":{"metadata":{"labels":{"watchtap.dev/inject":"enabled"}}}}}'

        A pod that `watchtap inject` has changed needs no label, and is not counted here without one.
    "#]].assert_eq(coverage_text(&none(no_rules()), Colour::Off).as_str());
}

#[test]
fn reason_for_unknown_webhooks_is_shown() {
    let denied = Admission::Unknown("the API server answered 403 Forbidden: no".to_owned());
    expect![[r#"
        no pod in namespace shop requests a sidecar
        webhook: unknown, the API server answered 403 Forbidden: no

        Label the pods of a workload to request a sidecar. Its pods are replaced, and each new one gets its own:

            kubectl patch deployment NAME --namespace shop --type merge --patch '{"spec":{"template":{"metadata":{"labels":{"watchtap.dev/inject":"enabled"}}}}}'

        A pod that `watchtap inject` has changed needs no label, and is not counted here without one.
    "#]].assert_eq(coverage_text(&none(denied), Colour::Off).as_str());
}
