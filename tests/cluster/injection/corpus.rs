//! Manifests of real projects, from Go modules, and what must become of each.

use std::fs;
use std::path::PathBuf;

use observer_tests::go_modules;

/// A manifest, as a file of a module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manifest {
    module: &'static str,
    pub(super) path: &'static str,
    /// Edits of the text, where the file would be refused for a reason that another file tests.
    edits: &'static [Edit],
    line_endings: LineEndings,
    /// How many pods get the sidecar.
    pub(super) injected: usize,
    /// The other objects with pods, as `Kind/name`, with a word of the reason why they are left alone.
    pub(super) refused: &'static [(&'static str, &'static str)],
}

/// Text, its replacement, and the number of places.
type Edit = (&'static str, &'static str, usize);

#[derive(Clone, Copy, Debug)]
enum LineEndings {
    AsPublished,
    Crlf,
}

/// A manifest as the tests use it.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) manifest: Manifest,
    pub(super) text: String,
}

impl Manifest {
    const fn of(module: &'static str, path: &'static str, injected: usize) -> Self {
        Self { module, path, edits: &[], line_endings: LineEndings::AsPublished, injected, refused: &[] }
    }

    const fn with(self, edits: &'static [Edit]) -> Self {
        Self { edits, ..self }
    }

    const fn refusing(self, refused: &'static [(&'static str, &'static str)]) -> Self {
        Self { refused, ..self }
    }

    const fn in_crlf(self) -> Self {
        Self { line_endings: LineEndings::Crlf, ..self }
    }
}

const ISTIO: &str = "istio.io/istio";
const KUBERNETES: &str = "k8s.io/kubernetes";
const API: &str = "k8s.io/api";
const POD_SECURITY: &str = "k8s.io/pod-security-admission";
const WHEREABOUTS: &str = "github.com/k8snetworkplumbingwg/whereabouts";
const MACHINE_API: &str = "github.com/openshift/machine-api-operator";
const MODULES: [&str; 6] = [ISTIO, KUBERNETES, API, POD_SECURITY, WHEREABOUTS, MACHINE_API];

/// Every place of a text.
const ALL: usize = usize::MAX;
const OUT_OF_KUBE_SYSTEM: &[Edit] = &[("namespace: kube-system", "namespace: app", ALL)];

/// The manifests. Comments name what is special in one.
pub(super) const MANIFESTS: &[Manifest] = &[
    // One object of each kind, as people write them.
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/pod.yaml", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/replicaset.yaml", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/replicationcontroller.yaml", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/statefulset.yaml", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/daemonset.yaml", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/job.yaml", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/cronjob.yaml", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/list.yaml", 2),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/list-frontend.yaml", 1),
    Manifest::of(KUBERNETES, "test/fixtures/doc-yaml/user-guide/walkthrough/podtemplate.json", 1),
    // Not a kind of Kubernetes, although it has a template: it passes.
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/deploymentconfig-multi.yaml", 0),
    // Init containers, and native sidecars of others: Istio's, with a token for its own audience.
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/multi-init.yaml", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/native-sidecar.yaml", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/hello.yaml.injected", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/multi-container.yaml.injected", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/statefulset.yaml.injected", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/cronjob.yaml.injected", 1),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/list.yaml.injected", 2),
    Manifest::of(ISTIO, "pkg/kube/inject/testdata/inject/hello-host-network.yaml", 0)
        .refusing(&[("Deployment/hello-host-network", "hostNetwork")]),
    // Rendered by Helm: comments of their sources, lines of spaces, quoted names, a document of 240 kB.
    Manifest::of(ISTIO, "samples/addons/grafana.yaml", 1),
    Manifest::of(ISTIO, "samples/addons/prometheus.yaml", 1),
    Manifest::of(ISTIO, "samples/addons/loki.yaml", 1),
    Manifest::of(ISTIO, "samples/addons/kiali.yaml", 1),
    Manifest::of(ISTIO, "samples/addons/jaeger.yaml", 1).in_crlf(),
    Manifest::of(ISTIO, "operator/pkg/helm/testdata/output/gateway-init-containers.golden.yaml", 1),
    Manifest::of(ISTIO, "operator/cmd/mesh/testdata/manifest-generate/output/ztunnel.golden.yaml", 1),
    // 1 MB, of which most are CustomResourceDefinitions.
    Manifest::of(ISTIO, "operator/cmd/mesh/testdata/manifest-generate/output/all_on.golden-show-in-gh-pull-request.yaml", 3),
    // 250 kB with a CNI.
    Manifest::of(ISTIO, "prow/config/calico.yaml", 0)
        .refusing(&[("DaemonSet/calico-node", "kube-system"), ("Deployment/calico-kube-controllers", "kube-system")]),
    Manifest::of(ISTIO, "operator/cmd/mesh/testdata/manifest-generate/output/istio-cni.golden.yaml", 0)
        .refusing(&[("DaemonSet/istio-cni-node", "CNI")]),
    Manifest::of(ISTIO, "common/scripts/metallb-native.yaml", 1).refusing(&[("DaemonSet/speaker", "hostNetwork")]),
    Manifest::of(ISTIO, "samples/security/spire/spire-quickstart.yaml", 1).refusing(&[("DaemonSet/spire-agent", "hostNetwork")]),
    Manifest::of(ISTIO, "samples/addons/extras/skywalking.yaml", 2),
    Manifest::of(ISTIO, "samples/bookinfo/platform/kube/bookinfo-psa.yaml", 6),
    Manifest::of(ISTIO, "samples/bookinfo/platform/kube/bookinfo.yaml", 6).in_crlf(),
    // Volumes with the token that kubectl or the author put at the place of clients.
    Manifest::of(KUBERNETES, "plugin/pkg/admission/security/podsecurity/testdata/pod_restricted.yaml", 1).with(OUT_OF_KUBE_SYSTEM),
    Manifest::of(WHEREABOUTS, "doc/crds/node-slice-controller.yaml", 1).with(OUT_OF_KUBE_SYSTEM),
    Manifest::of(WHEREABOUTS, "doc/crds/daemonset-install.yaml", 0).refusing(&[("DaemonSet/whereabouts", "kube-system")]),
    Manifest::of(MACHINE_API, "install/0000_30_machine-api-operator_11_deployment.yaml", 1),
    // JSON: indented by one and by more, closed brackets in a line, a list of one kind.
    Manifest::of(KUBERNETES, "hack/testdata/multi-resource-list.json", 1),
    Manifest::of(KUBERNETES, "hack/testdata/multi-resource-rclist.json", 2),
    Manifest::of(KUBERNETES, "test/integration/benchmark-controller.json", 1),
    Manifest::of(KUBERNETES, "pkg/controller/statefulset/testdata/compatibility_set_1.34.0.json", 1),
    // Nulls in place of mappings and lists.
    Manifest::of(KUBERNETES, "hack/testdata/null-propagation/deployment-null.yml", 1),
    Manifest::of(KUBERNETES, "hack/testdata/list.yaml", 1),
    Manifest::of(KUBERNETES, "hack/testdata/CRD/multi-crd-list.yaml", 0),
    Manifest::of(KUBERNETES, "hack/testdata/pod-with-api-env.yaml", 1),
    Manifest::of(KUBERNETES, "test/fixtures/doc-yaml/user-guide/multi-pod.yaml", 2),
    Manifest::of(KUBERNETES, "test/fixtures/doc-yaml/admin/high-availability/kube-apiserver.yaml", 0)
        .refusing(&[("Pod/kube-apiserver", "hostNetwork")]),
    // Eight containers and volumes of the host.
    Manifest::of(KUBERNETES, "test/e2e/testing-manifests/storage-csi/hostpath/hostpath/csi-hostpath-plugin.yaml", 1),
    Manifest::of(KUBERNETES, "test/e2e/testing-manifests/statefulset/mysql-upgrade/statefulset.yaml", 1),
    Manifest::of(KUBERNETES, "test/e2e/testing-manifests/statefulset/zookeeper/statefulset.yaml", 1),
    Manifest::of(KUBERNETES, "test/e2e/testing-manifests/statefulset/cockroachdb/statefulset.yaml", 1),
    Manifest::of(KUBERNETES, "test/integration/scheduler_perf/templates/gated-pod-with-pod-affinity.yaml", 1),
    Manifest::of(KUBERNETES, "cluster/addons/fluentd-gcp/event-exporter.yaml", 0)
        .refusing(&[("Deployment/event-exporter-v0.3.4", "kube-system")]),
    // Every field of the type.
    Manifest::of(API, "testdata/HEAD/apps.v1.Deployment.yaml", 1).with(&[
        ("hostNetwork: true", "hostNetwork: false", 1),
        ("nameValue", "name-value", ALL),
        // An unknown field, as of a later version.
        ("windowsOptions", "laterOptions", ALL),
        ("name: name-value\n        ports:", "name: another\n        ports:", 1),
        ("os:\n        name: name-value", "os:\n        name: linux", 1),
    ]),
    Manifest::of(API, "testdata/HEAD/batch.v1.CronJob.yaml", 1).with(&[
        ("hostNetwork: true", "hostNetwork: false", 1),
        ("nameValue", "name-value", ALL),
        // An unknown field, as of a later version.
        ("windowsOptions", "laterOptions", ALL),
        ("name: name-value\n            ports:", "name: another\n            ports:", 1),
        ("os:\n            name: name-value", "os:\n            name: linux", 1),
    ]),
    Manifest::of(API, "testdata/HEAD/core.v1.ReplicationController.json", 1).with(&[
        ("\"hostNetwork\": true", "\"hostNetwork\": false", 1),
        ("nameValue", "name-value", ALL),
        // An unknown field, as of a later version.
        ("windowsOptions", "laterOptions", ALL),
        ("\"name\": \"name-value\",\n            \"image\"", "\"name\": \"another\",\n            \"image\"", 1),
        ("\"os\": {\n          \"name\": \"name-value\"", "\"os\": {\n          \"name\": \"linux\"", 1),
    ]),
    Manifest::of(POD_SECURITY, "test/testdata/restricted/v1.34/pass/base.yaml", 1),
    Manifest::of(POD_SECURITY, "test/testdata/restricted/v1.34/pass/base_windows.yaml", 0)
        .refusing(&[("Pod/base_windows", "Windows")]),
];

/// The texts of all manifests.
pub(super) fn sources() -> Vec<Source> {
    let folders: Vec<PathBuf> = go_modules(&MODULES).unwrap();
    let folder = |module| &folders[MODULES.iter().position(|one| *one == module).unwrap()];
    MANIFESTS.iter().map(|manifest| Source { manifest: *manifest, text: manifest.read(folder(manifest.module)) }).collect()
}

impl Manifest {
    fn read(&self, folder: &std::path::Path) -> String {
        let path = folder.join(self.path);
        let mut text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for (from, to, places) in self.edits {
            assert!(text.contains(from), "{} has no {from:?}", self.path);
            text = text.replacen(from, to, *places);
        }
        match self.line_endings {
            LineEndings::AsPublished => text,
            LineEndings::Crlf => text.replace('\n', "\r\n"),
        }
    }

    /// Its name without folders.
    pub(super) fn file_name(&self) -> String {
        self.path.rsplit('/').next().unwrap_or_default().to_owned()
    }
}
