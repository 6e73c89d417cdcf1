//! Values of the chart as users set them. Each set is rendered, linted and admitted.

use std::path::PathBuf;

use tempfile::TempDir;

/// A set of values with a name.
pub(super) struct ValueSet {
    pub(super) name: &'static str,
    pub(super) values: &'static str,
}

/// Rendering needs an image.
pub(super) const IMAGE: &str = "image: {registry: registry.example:5000, repository: watchtap}";

/// All sets. Each value of the chart is in one of them, with another value than the default.
pub(super) const VALUE_SETS: &[ValueSet] = &[
    ValueSet { name: "defaults", values: IMAGE },
    ValueSet {
        name: "images",
        values: "
global: {image: {registry: mirror.example/all, pullSecrets: [of-another-chart]}, of-another-chart: 1}
image:
  registry: registry.example:5000
  repository: team/watchtap
  digest: sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
  pullPolicy: IfNotPresent
imagePullSecrets: [{name: registry}]
webhook: {sidecar: {image: {pullPolicy: Always}}}
",
    },
    ValueSet {
        name: "another image for sidecars",
        values: "
image: {repository: registry.example:5000/watchtap, tag: 0.2.0-rc.1}
webhook:
  sidecar:
    image: {registry: other.example, repository: watchtap, tag: '1', digest: ''}
    requests: {cpu: 20m, memory: 64Mi}
    limits: {cpu: 1, memory: 96Mi, ephemeral-storage: 1Gi}
    serverVersion: '1.34'
",
    },
    ValueSet {
        name: "a digest for sidecars",
        values: "
image: {repository: watchtap.example/watchtap}
webhook: {sidecar: {image: {digest: 'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}
",
    },
    ValueSet {
        name: "names and labels",
        values: "
image: {repository: watchtap.example/watchtap}
nameOverride: observer
fullnameOverride: a-name-with-forty-two-characters-in-it-yes
commonLabels: {team: platform, release: all, example.org/tier: '1'}
webhook: {podLabels: {team: admission}}
podMonitor: {enabled: true, labels: {release: prometheus}}
",
    },
    ValueSet { name: "OpenShift", values: "{openshift: true, image: {repository: watchtap.example/watchtap}}" },
    ValueSet {
        name: "scheduling",
        values: "
image: {repository: watchtap.example/watchtap}
webhook:
  replicas: 3
  resources: {requests: {cpu: 0.5, memory: 64Mi}, limits: {memory: 64Mi}}
  podDisruptionBudget: {enabled: false}
  podAnnotations: {example.org/note: text of any kind}
  podLabels: {team: platform}
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app.kubernetes.io/component: webhook}}}
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]
  tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}]
  nodeSelector: {kubernetes.io/os: linux}
  priorityClassName: system-cluster-critical
",
    },
    ValueSet {
        name: "admission",
        values: "
image: {repository: watchtap.example/watchtap}
webhook:
  failurePolicy: Fail
  timeoutSeconds: 10
  namespaceSelector:
    matchLabels: {watched: 'yes'}
    matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [legacy]}]
",
    },
    ValueSet {
        name: "cert-manager",
        values: "{image: {repository: watchtap.example/watchtap}, webhook: {certManager: {enabled: true}}, networkPolicy: {enabled: true}}",
    },
    ValueSet {
        name: "an issuer of the cluster",
        values: "
image: {repository: watchtap.example/watchtap}
webhook: {certManager: {enabled: true, issuerRef: {name: internal, kind: ClusterIssuer, group: cert-manager.io}}}
",
    },
    ValueSet {
        name: "network",
        values: "
image: {repository: watchtap.example/watchtap}
networkPolicy:
  enabled: true
  admissionFrom: [{ipBlock: {cidr: 10.0.0.0/24}}]
  metricsFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}, podSelector: {}}]
  apiServerPort: 443
",
    },
    ValueSet {
        name: "monitoring",
        values: "
image: {repository: watchtap.example/watchtap}
podMonitor: {enabled: true, labels: {release: prometheus}, interval: 30s, selector: {matchExpressions: [{key: app, operator: Exists}]}}
prometheusRule: {enabled: true, labels: {release: prometheus}}
dashboards: {enabled: true, labels: {grafana_dashboard: '1', team: platform}, annotations: {grafana_folder: Kubernetes}}
",
    },
    ValueSet {
        name: "probes",
        values: "
image: {repository: watchtap.example/watchtap}
webhook: {enabled: false}
probe: {enabled: true}
controlPlaneProbe: {enabled: true}
networkPolicy: {enabled: true}
podMonitor: {enabled: true, interval: 1m}
",
    },
    ValueSet {
        name: "other probes",
        values: "
image: {registry: registry.example:5000, repository: watchtap, pullPolicy: Always}
imagePullSecrets: [{name: registry}]
commonLabels: {team: platform}
openshift: true
networkPolicy: {enabled: true, apiServerPort: 443, metricsFrom: [{namespaceSelector: {matchLabels: {team: monitoring}}}]}
probe: &probe
  enabled: true
  apiServers: ['10.0.0.1:6443', 'api.example:443', '[fd00::1]:6443']
  olderKernels: true
  extraArguments: [--calls-per-second=20000, --lines=all]
  appArmorProfile: RuntimeDefault
  seLinuxType: ''
  resources: {requests: {cpu: 50m, memory: 64Mi}, limits: {memory: 128Mi}}
  maxUnavailable: 3
  tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}]
  nodeSelector: {kubernetes.io/os: linux, observed: 'yes'}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]
  priorityClassName: system-node-critical
  podAnnotations: {container.apparmor.security.beta.kubernetes.io/watchtap: runtime/default}
  podLabels: {team: nodes}
controlPlaneProbe: *probe
",
    },
    ValueSet {
        name: "without the webhook",
        values: "
enabled: true
webhook: {enabled: false}
podMonitor: {enabled: true}
networkPolicy: {enabled: true}
dashboards: {enabled: true}
",
    },
    ValueSet {
        name: "further objects",
        values: "
image: {repository: watchtap.example/watchtap}
extraObjects:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: of-yaml, namespace: watchtap}, data: {a: '1'}}
  - |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: '{{ .Release.Name }}-of-text', namespace: '{{ .Release.Namespace }}'}
",
    },
];

/// Files with values, for Helm's `--values`.
pub(super) struct ValueFiles(TempDir);

impl ValueFiles {
    pub(super) fn create() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The file of a set, which is written if needed.
    pub(super) fn of(&self, set: &ValueSet) -> PathBuf {
        self.with(&set.name.replace(' ', "-"), set.values)
    }

    /// A file with this content.
    pub(super) fn with(&self, name: &str, values: &str) -> PathBuf {
        let path = self.0.path().join(format!("{name}.yaml"));
        std::fs::write(&path, values).unwrap();
        path
    }
}
