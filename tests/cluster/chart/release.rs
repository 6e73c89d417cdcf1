//! Releases of the chart on a real API server: install, upgrade and uninstall, by Helm 3 and by Helm 4.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use observer_tests::{AllObjects, Client, Cluster, Helm, HelmRelease, Options, chart};
use serde_json::json;

use super::admission::prepared;
use super::objects::{NAME, NAMESPACE};
use super::value_sets::{VALUE_SETS, ValueFiles, ValueSet};

/// Where the chart is in a commit.
const CHART: &str = "deploy/chart";
const CONFIGURATION: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/watchtap-webhook";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/watchtap/deployments/watchtap-webhook";
/// A certificate in base64, as far as the API server looks at it.
const BUNDLE: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t";

#[test]
fn release_leaves_nothing_after_its_end() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let client = prepared(&cluster);
    let kubeconfig = cluster.kubeconfig_admin().unwrap();
    let files = ValueFiles::create();
    let chart = chart().display().to_string();
    let before = all_objects(&client);
    for release in HelmRelease::ALL {
        let helm = Helm::of(release).unwrap();
        let run = |arguments: &[&str]| helm.run_on(&kubeconfig, arguments).unwrap();
        let webhook = "kubectl rollout status deployment/watchtap-webhook --namespace watchtap";
        let probe = "kubectl rollout status daemonset/watchtap-control-plane-probe --namespace watchtap";
        for (name, next) in [("defaults", webhook), ("monitoring", webhook), ("cert-manager", webhook), ("probes", probe)] {
            let values = files.of(set(name)).display().to_string();
            let notes = run(&["install", NAME, &chart, "--namespace", NAMESPACE, "--values", &values]);
            assert!(notes.contains(next), "{notes}");
            assert!(all_objects(&client).count() > before.count() + 5);
            run(&["uninstall", NAME, "--namespace", NAMESPACE]);
            assert_eq!(before.differences(&all_objects(&client)), [""; 0], "{release:?} {name}");
        }
    }
}

/// The webhook writes the certificate of its CA into its configuration. Upgrades leave it there, whichever Helm makes them.
#[test]
fn upgrade_from_the_chart_before_ends_as_an_installation_and_keeps_the_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let earlier = chart_before(folder.path()).unwrap_or_else(chart).display().to_string();
    let cluster = Cluster::start(&Options::default()).unwrap();
    let client = prepared(&cluster);
    let kubeconfig = cluster.kubeconfig_admin().unwrap();
    let files = ValueFiles::create();
    let chart = chart().display().to_string();
    let [first, last] = ["OpenShift", "scheduling"].map(|name| files.of(set(name)).display().to_string());
    let helms = HelmRelease::ALL.map(|release| Helm::of(release).unwrap());
    let [three, four] = &helms;
    for (old, new) in [(three, three), (three, four), (four, four)] {
        let run = |helm: &Helm, arguments: &[&str]| helm.run_on(&kubeconfig, arguments).unwrap();
        let settled = || all_objects(&client).without("/secrets/sh.helm.release").without("/ipaddresses/");
        run(new, &["install", NAME, &chart, "--namespace", NAMESPACE, "--values", &last]);
        let mut expected = settled();
        run(new, &["uninstall", NAME, "--namespace", NAMESPACE]);

        run(old, &["install", NAME, &earlier, "--namespace", NAMESPACE, "--values", &first]);
        write_certificate(&client);
        let installed = settled();
        run(new, &["upgrade", NAME, &chart, "--namespace", NAMESPACE, "--values", &last]);
        let mut upgraded = settled();
        let mut configuration = upgraded.take(CONFIGURATION).unwrap();
        let written = configuration["webhooks"][0]["clientConfig"].as_object_mut().unwrap().remove("caBundle");
        assert_eq!(written, Some(BUNDLE.into()), "{old:?} {new:?}");
        assert_eq!(expected.take(CONFIGURATION), Some(configuration), "{old:?} {new:?}");
        assert_eq!(expected.differences(&upgraded), [""; 0], "{old:?} {new:?}");
        run(new, &["rollback", NAME, "--namespace", NAMESPACE]);
        assert_eq!(installed.differences(&settled()), [""; 0], "{old:?} {new:?}");
        run(new, &["uninstall", NAME, "--namespace", NAMESPACE]);
    }
}

/// Helm 4 applies objects on the server, which refuses to change what another program has set.
#[test]
fn replicas_that_another_program_has_set_are_left_or_taken_back() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let client = prepared(&cluster);
    let kubeconfig = cluster.kubeconfig_admin().unwrap();
    let helm = Helm::of(HelmRelease::V4).unwrap();
    let (chart, files) = (chart().display().to_string(), ValueFiles::create());
    let values = files.of(set("defaults")).display().to_string();
    let run = |arguments: &[&str]| {
        let release = [NAME, &chart, "--namespace", NAMESPACE, "--values", &values];
        helm.run_on(&kubeconfig, &[&arguments[..1], &release, &arguments[1..]].concat())
    };
    let replicas = || client.get(DEPLOYMENT).unwrap().json().unwrap()["spec"]["replicas"].clone();
    run(&["install"]).unwrap();
    assert_eq!(replicas(), 2);

    let headers = [("Content-Type", "application/merge-patch+json")];
    let path = format!("{DEPLOYMENT}/scale?fieldManager=autoscaler");
    client.raw("PATCH", &path, &headers, br#"{"spec": {"replicas": 4}}"#).unwrap().success().unwrap();
    let refused = run(&["upgrade"]).unwrap_err().to_string();
    assert!(refused.contains("conflict with \"autoscaler\"") && refused.contains(".spec.replicas"), "{refused}");
    run(&["upgrade", "--set=webhook.replicas=null"]).unwrap();
    assert_eq!(replicas(), 4);
    run(&["upgrade", "--force-conflicts"]).unwrap();
    assert_eq!(replicas(), 2);
}

/// Lists of objects are compared completely, or a test that finds nothing would prove nothing.
#[test]
fn objects_that_stay_are_found() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let client = cluster.client();
    let before = all_objects(&client);
    assert!(before.contains("/api/v1/namespaces/default"), "{before:?}");
    cluster.create_configmaps("default", 1).unwrap();
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "stays"}});
    client.post("/apis/rbac.authorization.k8s.io/v1/clusterroles", &role).unwrap().success().unwrap();
    let found = before.differences(&all_objects(&client));
    let paths: Vec<&str> = found.iter().map(|difference| difference.split(':').next().unwrap()).collect();
    let expected = ["/api/v1/namespaces/default/configmaps/cm-0", "/apis/rbac.authorization.k8s.io/v1/clusterroles/stays"];
    assert_eq!(paths, expected);
}

fn all_objects(client: &Client) -> AllObjects {
    AllObjects::read(|path| client.get(path)?.json()).unwrap()
}

/// Writes a certificate as the webhook does: by server-side apply, as another owner of fields than Helm.
fn write_certificate(client: &Client) {
    let object = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "watchtap-webhook"},
        "webhooks": [{"name": "inject.watchtap.dev", "clientConfig": {"caBundle": BUNDLE}}],
    });
    let headers = [("Content-Type", "application/apply-patch+yaml")];
    let path = format!("{CONFIGURATION}?fieldManager=watchtap-ca&force=true");
    client.raw("PATCH", &path, &headers, object.to_string().as_bytes()).unwrap().success().unwrap();
}

fn set(name: &str) -> &'static ValueSet {
    VALUE_SETS.iter().find(|set| set.name == name).unwrap()
}

/// The chart before its last change, written into `folder`; `None`, with a message, if this checkout has no such commit.
fn chart_before(folder: &Path) -> Option<PathBuf> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(chart().join("../..")).args(arguments).output().unwrap();
        output.status.success().then_some(output.stdout)
    };
    let last_change = git(&["log", "-1", "--format=%H", "--", CHART])?;
    let before = format!("{}~1", String::from_utf8(last_change).unwrap().trim());
    let Some(archive) = git(&["archive", &before, CHART]) else {
        let replaced =
            "replaced: the chart before its last change, which this checkout lacks, by the present one with other values";
        writeln!(std::io::stdout().lock(), "{replaced}").unwrap();
        return None;
    };
    tar::Archive::new(archive.as_slice()).unpack(folder).unwrap();
    Some(folder.join(CHART))
}
