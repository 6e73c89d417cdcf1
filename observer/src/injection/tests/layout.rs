//! The changes to a pod, line by line.

use expect_test::{Expect, expect};

use super::check::{deployment, difference, injected, injected_with, options};
use crate::injection::Options;

const APP: &str = "serviceAccountName: web\ncontainers:\n- name: app\n  image: example.com/app:1\n";

#[test]
fn pod_gets_a_sidecar_and_its_containers_are_led_to_it() {
    check(
        APP,
        &options(),
        &expect![[r#"
        +      annotations:
        +        watchtap.dev/injected: …
        +        env:
        +        - {name: KUBERNETES_SERVICE_HOST, value: "127.0.0.1"}
        +        - {name: KUBERNETES_SERVICE_PORT, value: "16443"}
        +        - {name: KUBERNETES_SERVICE_PORT_HTTPS, value: "16443"}
        +        volumeMounts:
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
        +        - {name: kube-api-access-watchtap, mountPath: /var/run/secrets/watchtap/serviceaccount, readOnly: true}
        +      initContainers:
        +      - name: watchtap
        +        image: localhost/watchtap:1
        +        restartPolicy: Always
        +        args: [run, --in-cluster, --container, app=16443, --metrics, "[::]:9643"]
        +        ports:
        +        - {name: watchtap, containerPort: 9643}
        +        startupProbe: {httpGet: {path: /started, port: 9643}, periodSeconds: 1, failureThreshold: 60}
        +        resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 128Mi}}
        +        securityContext:
        +          allowPrivilegeEscalation: false
        +          capabilities: {drop: [ALL]}
        +          readOnlyRootFilesystem: true
        +          runAsNonRoot: true
        +          runAsUser: 59643
        +          runAsGroup: 59643
        +          seccompProfile: {type: RuntimeDefault}
        +        volumeMounts:
        +        - {name: watchtap-own, mountPath: /var/run/secrets/watchtap/own}
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/watchtap/trust}
        +        - {name: watchtap-real-ca, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
        +      volumes:
        +      - {name: watchtap-own, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
        +      - {name: watchtap-trust, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
        +      - name: watchtap-real-ca
        +        projected: {sources: [{configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}}]}
        +      - name: kube-api-access-watchtap
        +        projected:
        +          sources:
        +          - {serviceAccountToken: {path: token, expirationSeconds: 3607}}
        +          - {configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}}
        +          - {downwardAPI: {items: [{path: namespace, fieldRef: {fieldPath: metadata.namespace}}]}}
    "#]],
    );
}

#[test]
fn every_container_has_a_port_of_its_own_that_the_pod_does_not_use() {
    let spec = "\
initContainers:
- name: migrate
  image: example.com/migrate:1
containers:
- name: app
  image: example.com/app:1
  ports: [{containerPort: 9643}, {containerPort: 16443}]
- name: other
  image: example.com/other:1
  ports:
  - containerPort: 8080
    hostPort: 16445
";
    check(
        spec,
        &options(),
        &expect![[r#"
        +      annotations:
        +        watchtap.dev/injected: …
        +      - name: watchtap
        +        image: localhost/watchtap:1
        +        restartPolicy: Always
        +        args: [run, --in-cluster, --container, migrate=16444, --container, app=16446, --container, other=16447,
        +          --metrics, "[::]:9644"]
        +        ports:
        +        - {name: watchtap, containerPort: 9644}
        +        startupProbe: {httpGet: {path: /started, port: 9644}, periodSeconds: 1, failureThreshold: 60}
        +        resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 128Mi}}
        +        securityContext:
        +          allowPrivilegeEscalation: false
        +          capabilities: {drop: [ALL]}
        +          readOnlyRootFilesystem: true
        +          runAsNonRoot: true
        +          runAsUser: 59643
        +          runAsGroup: 59643
        +          seccompProfile: {type: RuntimeDefault}
        +        volumeMounts:
        +        - {name: watchtap-own, mountPath: /var/run/secrets/watchtap/own}
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/watchtap/trust}
        +        - {name: watchtap-real-ca, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
        +        env:
        +        - {name: KUBERNETES_SERVICE_HOST, value: "127.0.0.1"}
        +        - {name: KUBERNETES_SERVICE_PORT, value: "16444"}
        +        - {name: KUBERNETES_SERVICE_PORT_HTTPS, value: "16444"}
        +        volumeMounts:
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
        +        - {name: kube-api-access-watchtap, mountPath: /var/run/secrets/watchtap/serviceaccount, readOnly: true}
        +        env:
        +        - {name: KUBERNETES_SERVICE_HOST, value: "127.0.0.1"}
        +        - {name: KUBERNETES_SERVICE_PORT, value: "16446"}
        +        - {name: KUBERNETES_SERVICE_PORT_HTTPS, value: "16446"}
        +        volumeMounts:
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
        +        - {name: kube-api-access-watchtap, mountPath: /var/run/secrets/watchtap/serviceaccount, readOnly: true}
        +        env:
        +        - {name: KUBERNETES_SERVICE_HOST, value: "127.0.0.1"}
        +        - {name: KUBERNETES_SERVICE_PORT, value: "16447"}
        +        - {name: KUBERNETES_SERVICE_PORT_HTTPS, value: "16447"}
        +        volumeMounts:
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
        +        - {name: kube-api-access-watchtap, mountPath: /var/run/secrets/watchtap/serviceaccount, readOnly: true}
        +      volumes:
        +      - {name: watchtap-own, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
        +      - {name: watchtap-trust, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
        +      - name: watchtap-real-ca
        +        projected: {sources: [{configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}}]}
        +      - name: kube-api-access-watchtap
        +        projected:
        +          sources:
        +          - {serviceAccountToken: {path: token, expirationSeconds: 3607}}
        +          - {configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}}
        +          - {downwardAPI: {items: [{path: namespace, fieldRef: {fieldPath: metadata.namespace}}]}}
    "#]],
    );
}

#[test]
fn flags_of_many_containers_are_written_in_lines() {
    let containers = |number: usize| format!("- name: a-container-of-the-app-{number}\n  image: a\n");
    let spec: String = (0..4).map(containers).collect();
    let after = injected(&deployment(&format!("containers:\n{spec}")));
    let flags = "\
        args: [run, --in-cluster, --container, a-container-of-the-app-0=16443,
          --container, a-container-of-the-app-1=16444, --container, a-container-of-the-app-2=16445,
          --container, a-container-of-the-app-3=16446, --metrics, \"[::]:9643\"]
";
    assert!(after.contains(flags), "{after}");
}

#[test]
fn indented_json_gets_a_line_for_each_item() {
    let before = "\
{
  \"apiVersion\": \"v1\",
  \"kind\": \"Pod\",
  \"metadata\": {
    \"name\": \"p\"
  },
  \"spec\": {
    \"containers\": [
      {
        \"name\": \"app\",
        \"image\": \"a\",
        \"env\": [
          {
            \"name\": \"A\",
            \"value\": \"b\"
          }
        ]
      }
    ]
  }
}
";
    let after = injected(before);
    let items = r#"
        "env": [
          {"name": "KUBERNETES_SERVICE_HOST", "value": "127.0.0.1"},
          {"name": "KUBERNETES_SERVICE_PORT", "value": "16443"},
          {"name": "KUBERNETES_SERVICE_PORT_HTTPS", "value": "16443"},
          {
            "name": "A",
            "value": "b"
          }
        ],
        "volumeMounts": [
          {"name": "watchtap-trust", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true},
          {"name": "kube-api-access-watchtap", "mountPath": "/var/run/secrets/watchtap/serviceaccount", "readOnly": true}
        ]
      }
    ],
    "initContainers": [
      {
        "name": "watchtap",
        "image": "localhost/watchtap:1",
        "restartPolicy": "Always",
        "args": ["run", "--in-cluster", "--container", "app=16443", "--metrics", "[::]:9643"],
"#;
    assert!(after.contains(items), "{after}");
    assert_eq!(after.lines().count() - before.lines().count(), 31, "{after}");
}

#[test]
fn mounted_service_account_moves_aside_under_its_own_name() {
    let spec = "\
automountServiceAccountToken: false
containers:
- name: app
  image: example.com/app:1
  volumeMounts:
  - mountPath: '/var/run/secrets/kubernetes.io/serviceaccount/'   # ours
    name: token
    readOnly: true
- name: without
  image: example.com/other:1
volumes:
- name: token
  projected:
    sources:
    - serviceAccountToken: {path: token, audience: vault}
";
    check(
        spec,
        &options(),
        &expect![[r#"
        +      annotations:
        +        watchtap.dev/injected: …
        -        - mountPath: '/var/run/secrets/kubernetes.io/serviceaccount/'   # ours
        +        - mountPath: '/var/run/secrets/watchtap/serviceaccount'   # ours
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
        +        env:
        +        - {name: KUBERNETES_SERVICE_HOST, value: "127.0.0.1"}
        +        - {name: KUBERNETES_SERVICE_PORT, value: "16443"}
        +        - {name: KUBERNETES_SERVICE_PORT_HTTPS, value: "16443"}
        +      - {name: watchtap-own, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
        +      - {name: watchtap-trust, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
        +      - name: watchtap-real-ca
        +        projected: {sources: [{configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}}]}
        +      initContainers:
        +      - name: watchtap
        +        image: localhost/watchtap:1
        +        restartPolicy: Always
        +        args: [run, --in-cluster, --container, app=16443, --metrics, "[::]:9643"]
        +        ports:
        +        - {name: watchtap, containerPort: 9643}
        +        startupProbe: {httpGet: {path: /started, port: 9643}, periodSeconds: 1, failureThreshold: 60}
        +        resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 128Mi}}
        +        securityContext:
        +          allowPrivilegeEscalation: false
        +          capabilities: {drop: [ALL]}
        +          readOnlyRootFilesystem: true
        +          runAsNonRoot: true
        +          runAsUser: 59643
        +          runAsGroup: 59643
        +          seccompProfile: {type: RuntimeDefault}
        +        volumeMounts:
        +        - {name: watchtap-own, mountPath: /var/run/secrets/watchtap/own}
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/watchtap/trust}
        +        - {name: watchtap-real-ca, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
    "#]],
    );
}

#[test]
fn address_that_the_containers_set_becomes_that_of_the_sidecar() {
    let spec = "\
containers:
- name: app
  image: example.com/app:1
  env:
  - name: KUBERNETES_SERVICE_HOST
    value: \"api.example.com\"
  - {name: KUBERNETES_SERVICE_PORT, value: '6443'}
";
    check(
        spec,
        &options(),
        &expect![[r#"
        +      annotations:
        +        watchtap.dev/injected: …
        +        - {name: KUBERNETES_SERVICE_PORT_HTTPS, value: "16443"}
        -          value: "api.example.com"
        -        - {name: KUBERNETES_SERVICE_PORT, value: '6443'}
        +          value: "127.0.0.1"
        +        - {name: KUBERNETES_SERVICE_PORT, value: '16443'}
        +        volumeMounts:
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
        +        - {name: kube-api-access-watchtap, mountPath: /var/run/secrets/watchtap/serviceaccount, readOnly: true}
        +      initContainers:
        +      - name: watchtap
        +        image: localhost/watchtap:1
        +        restartPolicy: Always
        +        args: [run, --in-cluster, --container, app=16443, --metrics, "[::]:9643"]
        +        env:
        +        - {name: KUBERNETES_SERVICE_HOST, value: api.example.com}
        +        - {name: KUBERNETES_SERVICE_PORT, value: "6443"}
        +        ports:
        +        - {name: watchtap, containerPort: 9643}
        +        startupProbe: {httpGet: {path: /started, port: 9643}, periodSeconds: 1, failureThreshold: 60}
        +        resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 128Mi}}
        +        securityContext:
        +          allowPrivilegeEscalation: false
        +          capabilities: {drop: [ALL]}
        +          readOnlyRootFilesystem: true
        +          runAsNonRoot: true
        +          runAsUser: 59643
        +          runAsGroup: 59643
        +          seccompProfile: {type: RuntimeDefault}
        +        volumeMounts:
        +        - {name: watchtap-own, mountPath: /var/run/secrets/watchtap/own}
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/watchtap/trust}
        +        - {name: watchtap-real-ca, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
        +      volumes:
        +      - {name: watchtap-own, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
        +      - {name: watchtap-trust, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
        +      - name: watchtap-real-ca
        +        projected: {sources: [{configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}}]}
        +      - name: kube-api-access-watchtap
        +        projected:
        +          sources:
        +          - {serviceAccountToken: {path: token, expirationSeconds: 3607}}
        +          - {configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}}
        +          - {downwardAPI: {items: [{path: namespace, fieldRef: {fieldPath: metadata.namespace}}]}}
    "#]],
    );
}

#[test]
fn loopback_bypasses_the_proxy_of_a_container() {
    let spec = "\
containers:
- name: app
  image: example.com/app:1
  env:
  - name: HTTPS_PROXY
    value: http://proxy:3128
  - name: no_proxy
    value: .svc,10.0.0.0/8
- name: other
  image: example.com/other:1
  env:
  - name: http_proxy
    value: http://proxy:3128
";
    check(
        spec,
        &options(),
        &expect![[r#"
        +      annotations:
        +        watchtap.dev/injected: …
        +        - {name: KUBERNETES_SERVICE_HOST, value: "127.0.0.1"}
        +        - {name: KUBERNETES_SERVICE_PORT, value: "16443"}
        +        - {name: KUBERNETES_SERVICE_PORT_HTTPS, value: "16443"}
        -          value: .svc,10.0.0.0/8
        +          value: ".svc,10.0.0.0/8,127.0.0.1"
        +        volumeMounts:
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
        +        - {name: kube-api-access-watchtap, mountPath: /var/run/secrets/watchtap/serviceaccount, readOnly: true}
        +        - {name: KUBERNETES_SERVICE_HOST, value: "127.0.0.1"}
        +        - {name: KUBERNETES_SERVICE_PORT, value: "16444"}
        +        - {name: KUBERNETES_SERVICE_PORT_HTTPS, value: "16444"}
        +        - {name: NO_PROXY, value: "127.0.0.1"}
        +        - {name: no_proxy, value: "127.0.0.1"}
        +        volumeMounts:
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
        +        - {name: kube-api-access-watchtap, mountPath: /var/run/secrets/watchtap/serviceaccount, readOnly: true}
        +      initContainers:
        +      - name: watchtap
        +        image: localhost/watchtap:1
        +        restartPolicy: Always
        +        args: [run, --in-cluster, --container, app=16443, --container, other=16444, --metrics, "[::]:9643"]
        +        ports:
        +        - {name: watchtap, containerPort: 9643}
        +        startupProbe: {httpGet: {path: /started, port: 9643}, periodSeconds: 1, failureThreshold: 60}
        +        resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 128Mi}}
        +        securityContext:
        +          allowPrivilegeEscalation: false
        +          capabilities: {drop: [ALL]}
        +          readOnlyRootFilesystem: true
        +          runAsNonRoot: true
        +          runAsUser: 59643
        +          runAsGroup: 59643
        +          seccompProfile: {type: RuntimeDefault}
        +        volumeMounts:
        +        - {name: watchtap-own, mountPath: /var/run/secrets/watchtap/own}
        +        - {name: watchtap-trust, mountPath: /var/run/secrets/watchtap/trust}
        +        - {name: watchtap-real-ca, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
        +      volumes:
        +      - {name: watchtap-own, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
        +      - {name: watchtap-trust, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
        +      - name: watchtap-real-ca
        +        projected: {sources: [{configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}}]}
        +      - name: kube-api-access-watchtap
        +        projected:
        +          sources:
        +          - {serviceAccountToken: {path: token, expirationSeconds: 3607}}
        +          - {configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}}
        +          - {downwardAPI: {items: [{path: namespace, fieldRef: {fieldPath: metadata.namespace}}]}}
    "#]],
    );
}

#[test]
fn guaranteed_pod_stays_guaranteed() {
    let resources = "  resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 1000m}}\n";
    let spec = format!(
        "containers:\n- name: app\n  image: a\n{resources}- name: other\n  image: a\n  resources: {{limits: {{cpu: 1}}}}\n"
    );
    let text = deployment(&spec);
    assert!(injected(&text).contains("resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 128Mi}}"), "burstable");
    let text = deployment(&format!("containers:\n- name: app\n  image: a\n{resources}"));
    assert!(injected(&text).contains("resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {cpu: 100m, memory: 128Mi}}"));
}

#[test]
fn sidecar_shares_the_resources_of_a_pod_that_has_some() {
    for resources in ["{limits: {cpu: 1, memory: 1Gi}}", "{requests: {cpu: 5m}}"] {
        let after = injected(&deployment(&format!("resources: {resources}\n{APP}")));
        assert_eq!(after.matches("resources: ").count(), 1, "{after}");
    }
    assert_eq!(injected(&deployment(&format!("resources: {{}}\n{APP}"))).matches("resources: ").count(), 2);
}

#[test]
fn openshift_assigns_users_and_has_a_certificate_of_its_own() {
    let after = injected_with(&deployment(APP), &Options { openshift: true, ..options() });
    assert!(!after.contains("runAsUser") && !after.contains("runAsGroup") && after.contains("runAsNonRoot: true"));
    let source =
        "- configMap: {name: openshift-service-ca.crt, optional: true, items: [{key: service-ca.crt, path: service-ca.crt}]}\n";
    assert!(after.contains(source), "{after}");
}

#[test]
fn only_selected_containers_are_led() {
    let spec = format!("{APP}- name: other\n  image: example.com/other:1\n");
    let after = injected_with(&deployment(&spec), &Options { containers: vec!["other".to_owned()], ..options() });
    assert!(after.contains("args: [run, --in-cluster, --container, other=16443, --metrics, \"[::]:9643\"]"), "{after}");
    assert_eq!(after.matches("KUBERNETES_SERVICE_HOST, value").count(), 1);
}

#[test]
fn token_is_mounted_although_the_pod_withholds_it_if_the_user_wants() {
    let spec = format!("automountServiceAccountToken: false\n{APP}");
    let after = injected_with(&deployment(&spec), &Options { service_account_token: true, ..options() });
    assert!(after.contains("name: kube-api-access-watchtap"), "{after}");
}

#[test]
fn metadata_is_created_where_a_template_has_none() {
    let text = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec:\n  template:\n    spec:\n      containers:\n      - {name: app, image: a}\n";
    let after = injected(text);
    assert!(after.contains("\n    metadata:\n      annotations:\n        watchtap.dev/injected: '{"), "{after}");
}

#[test]
fn every_kind_of_workload_is_injected() {
    let pod = |indent: &str| format!("{indent}spec:\n{indent}  containers:\n{indent}  - name: app\n{indent}    image: a\n");
    for (version, kind) in [
        ("apps/v1", "Deployment"),
        ("apps/v1", "ReplicaSet"),
        ("apps/v1", "StatefulSet"),
        ("apps/v1", "DaemonSet"),
        ("batch/v1", "Job"),
        ("v1", "ReplicationController"),
        ("extensions/v1beta1", "Deployment"),
    ] {
        injected(&format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: a\nspec:\n  template:\n{}", pod("    ")));
    }
    injected(&format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n{}", pod("")));
    injected(&format!("apiVersion: v1\nkind: PodTemplate\nmetadata:\n  name: a\ntemplate:\n{}", pod("  ")));
    let cron = "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: a\nspec:\n  jobTemplate:\n    spec:\n      template:\n";
    injected(&format!("{cron}{}", pod("        ")));
    let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n";
    injected(&format!("{list}{}", pod("  ")));
    let typed = "apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- metadata:\n    name: a\n  spec:\n    template:\n";
    injected(&format!("{typed}{}", pod("      ")));
}

#[track_caller]
fn check(spec: &str, options: &Options, expected: &Expect) {
    let before = deployment(spec);
    expected.assert_eq(&difference(&before, &injected_with(&before, options)));
}
