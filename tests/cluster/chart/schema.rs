//! The schema of the chart's values: wrong values are refused with their paths.

use observer_tests::{Helm, HelmRelease, chart};

use super::value_sets::{IMAGE, VALUE_SETS, ValueFiles};

/// Values, and where they are wrong. Paths are those of the JSON pointer that Helm prints.
const WRONG: &[(&str, &str)] = &[
    ("imagePullPolicy: Always", "'imagePullPolicy'"),
    ("image: null", "'image'"),
    ("webhook: {failurePolicy: null}", "'failurePolicy'"),
    ("image: {repo: watchtap}", "/image"),
    ("image: {pullPolicy: Sometimes}", "/image/pullPolicy"),
    ("image: {tag: 0.1}", "/image/tag"),
    ("image: {tag: a/b}", "/image/tag"),
    ("image: {repository: 'watchtap:0.1.0'}", "/image/repository"),
    ("image: {repository: 'registry.example:5000/watchtap:0.1.0'}", "/image/repository"),
    ("webhook: {sidecar: {image: {repository: 'watchtap@sha256:abc'}}}", "/webhook/sidecar/image/repository"),
    ("image: {digest: sha256:abc}", "/image/digest"),
    ("image: {registry: 'https://registry.example'}", "/image/registry"),
    ("global: {image: {registry: 'https://a.example'}}", "/global/image/registry"),
    ("imagePullSecrets: [registry]", "/imagePullSecrets/0"),
    ("fullnameOverride: a-name-that-is-too-long-for-a-service-by-far-yes", "/fullnameOverride"),
    ("fullnameOverride: 1st", "/fullnameOverride"),
    ("commonLabels: {team: 1}", "/commonLabels/team"),
    ("commonLabels: {app.kubernetes.io/managed-by: me}", "/commonLabels"),
    ("webhook: {podLabels: {app.kubernetes.io/instance: a}}", "/webhook/podLabels"),
    ("podMonitor: {labels: {app.kubernetes.io/name: a}}", "/podMonitor/labels"),
    ("prometheusRule: {labels: {helm.sh/chart: a}}", "/prometheusRule/labels"),
    ("dashboards: {labels: {app.kubernetes.io/version: a}}", "/dashboards/labels"),
    ("openshift: 'yes'", "/openshift"),
    ("webhook: {replicas: '2'}", "/webhook/replicas"),
    ("webhook: {replicas: 0}", "/webhook/replicas"),
    ("webhook: {failurePolicy: Crash}", "/webhook/failurePolicy"),
    ("webhook: {timeoutSeconds: 31}", "/webhook/timeoutSeconds"),
    ("webhook: {sidecar: {limits: {memory: 128MB}}}", "/webhook/sidecar/limits/memory"),
    ("webhook: {sidecar: {requests: {nvidia.com/gpu: 1}}}", "/webhook/sidecar/requests"),
    ("webhook: {sidecar: {serverVersion: latest}}", "/webhook/sidecar/serverVersion"),
    ("webhook: {namespaceSelector: {team: a}}", "/webhook/namespaceSelector"),
    (
        "webhook: {namespaceSelector: {matchExpressions: [{key: team, operator: Is}]}}",
        "/webhook/namespaceSelector/matchExpressions/0",
    ),
    ("webhook: {certManager: {issuer: a}}", "/webhook/certManager"),
    ("webhook: {certManager: {issuerRef: {kind: ClusterIssuer}}}", "/webhook/certManager/issuerRef"),
    ("webhook: {resources: {limit: {}}}", "/webhook/resources"),
    ("webhook: {affinity: {podAntiAffinity: {preferred: []}}}", "/webhook/affinity/podAntiAffinity"),
    ("webhook: {tolerations: [{effect: Never}]}", "/webhook/tolerations/0/effect"),
    ("networkPolicy: {apiServerPort: 70000}", "/networkPolicy/apiServerPort"),
    ("networkPolicy: {admissionFrom: [{}]}", "/networkPolicy/admissionFrom/0"),
    ("networkPolicy: {admissionFrom: [{ipBlock: {cidr: 10.0.0.1}}]}", "/networkPolicy/admissionFrom/0/ipBlock/cidr"),
    ("podMonitor: {interval: 30}", "/podMonitor/interval"),
    ("podMonitor: {interval: soon}", "/podMonitor/interval"),
    ("prometheusRule: {enabled: 1}", "/prometheusRule/enabled"),
    ("dashboards: {labels: {a: b c}}", "/dashboards/labels/a"),
    ("extraObjects: {}", "/extraObjects"),
    ("probe: {enable: true}", "/probe"),
    ("probe: {maxUnavailable: null}", "'maxUnavailable'"),
    ("probe: {maxUnavailable: 0}", "/probe/maxUnavailable"),
    ("probe: {maxUnavailable: 0%}", "/probe/maxUnavailable"),
    ("probe: {apiServers: [10.0.0.1]}", "/probe/apiServers/0"),
    ("probe: {apiServers: ['https://api.example:6443']}", "/probe/apiServers/0"),
    ("probe: {apiServers: ['fd00::1:6443']}", "/probe/apiServers/0"),
    ("probe: {extraArguments: [pid 7]}", "/probe/extraArguments/0"),
    ("probe: {appArmorProfile: Localhost}", "/probe/appArmorProfile"),
    ("probe: {seLinuxType: 'system_u:system_r:spc_t'}", "/probe/seLinuxType"),
    ("probe: {privileged: true}", "/probe"),
    ("controlPlaneProbe: {serverEnds: true}", "/controlPlaneProbe"),
    ("controlPlaneProbe: {tolerations: [{effect: Never}]}", "/controlPlaneProbe/tolerations/0/effect"),
];

#[test]
fn wrong_values_are_refused_with_their_paths() {
    let files = ValueFiles::create();
    let chart = chart().display().to_string();
    let image = files.with("image", IMAGE).display().to_string();
    for release in HelmRelease::ALL {
        let helm = Helm::of(release).unwrap();
        for (values, path) in WRONG {
            let file = files.with("wrong", values).display().to_string();
            let refused =
                helm.run(&["template", "watchtap", &chart, "--values", &image, "--values", &file]).unwrap_err().to_string();
            assert!(refused.contains("schema") && refused.contains(path), "{release:?} {values}: no {path} in {refused}");
        }
    }
}

#[test]
fn missing_image_is_refused_with_a_remedy() {
    let chart = chart().display().to_string();
    for release in HelmRelease::ALL {
        let refused = Helm::of(release).unwrap().run(&["template", "watchtap", &chart]).unwrap_err().to_string();
        assert!(refused.contains("image.repository: no image of watchtap is published yet"), "{refused}");
    }
}

/// Helm allows such names of releases, and the API server no such names of Services.
#[test]
fn names_of_releases_become_names_of_services() {
    let chart = chart().display().to_string();
    for release in HelmRelease::ALL {
        let helm = Helm::of(release).unwrap();
        let render = |name: &str| helm.run(&["template", name, &chart, "--set=image.repository=watchtap"]);
        let rendered = render("my.release").unwrap();
        assert!(rendered.contains("--service=my-release-watchtap-webhook.$(POD_NAMESPACE)"), "{rendered}");
        assert!(!rendered.contains("name: my.release"), "{rendered}");
        let refused = render("1st").unwrap_err().to_string();
        assert!(
            refused.contains("fullnameOverride: the name of a Service cannot begin with a digit, as 1st-watchtap does"),
            "{refused}"
        );
    }
}

#[test]
fn chart_passes_lint_with_each_set_of_values() {
    let files = ValueFiles::create();
    let chart = chart().display().to_string();
    for release in HelmRelease::ALL {
        let helm = Helm::of(release).unwrap();
        for set in VALUE_SETS {
            let file = files.of(set).display().to_string();
            let linted = helm.run(&["lint", "--strict", "--quiet", &chart, "--namespace", "watchtap", "--values", &file]);
            assert!(linted.is_ok(), "{release:?} {}: {linted:?}", set.name);
        }
        helm.run(&["lint", "--strict", &chart]).unwrap();
    }
}

#[test]
fn clusters_without_native_sidecars_are_refused() {
    let chart = chart().display().to_string();
    let render = |version: &str| {
        let version = format!("--kube-version={version}");
        let helm = Helm::of(HelmRelease::V4).unwrap();
        helm.run(&["template", "watchtap", &chart, "--set=image.repository=watchtap", &version])
    };
    // Versions of providers have a suffix that counts as a pre-release.
    assert!(render("v1.29.0-eks-1234567").is_ok());
    let refused = render("v1.28.9").unwrap_err().to_string();
    assert!(refused.contains(">=1.29.0-0"), "{refused}");
}
