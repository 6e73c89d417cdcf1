//! The folders of `deploy/kustomize`: they have the objects of the chart, and kustomize builds them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use observer_tests::{Cluster, Options, chart, kubectl, kustomize, output_within};
use serde_json::{Value, json};

use super::admission::{complaint, prepared};
use super::objects::{named, parsed};

const LIMIT: Duration = Duration::from_mins(1);

#[test]
fn folders_have_the_objects_of_the_chart() {
    let (rendered, present) = (kustomize::rendered().unwrap(), kustomize::present().unwrap());
    assert_eq!(rendered.keys().collect::<Vec<_>>(), present.keys().collect::<Vec<_>>(), "run `cargo xtask chart`");
    for (file, text) in &rendered {
        assert_eq!(Some(text), present.get(file), "{file}: run `cargo xtask chart`");
    }
}

#[test]
fn api_server_admits_what_kustomize_builds() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let client = prepared(&cluster);
    for folder in ["base", "probe", "control-plane-probe", "monitoring"] {
        let objects = built(&chart().join("../kustomize").join(folder));
        assert!(objects.len() > 2, "{objects:?}");
        let complaints: Vec<String> = objects.iter().filter_map(|object| complaint(&client, object)).collect();
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }
}

/// The overlay of `deploy/README.md` names another image, and a namespace of its own.
#[test]
fn overlay_of_the_guide_changes_image_and_namespace() {
    let guide = fs::read_to_string(chart().join("../README.md")).unwrap();
    let overlay = guide.split("```yaml\n").map(|block| block.split("```").next().unwrap());
    let overlay = overlay.filter(|block| block.contains("kind: Kustomization")).collect::<Vec<_>>();
    let [overlay] = overlay.as_slice() else { panic!("{overlay:?}") };
    let folder = tempfile::tempdir().unwrap();
    let base = chart().join("../kustomize/base").canonicalize().unwrap();
    copy(&base, &folder.path().join("base"));
    let overlay_folder = folder.path().join("overlay");
    fs::create_dir(&overlay_folder).unwrap();
    let text = overlay.replace("../watchtap/deploy/kustomize/base", "../base");
    assert_ne!(text, **overlay, "the overlay names no base");
    fs::write(overlay_folder.join("kustomization.yaml"), text).unwrap();

    let objects = built(&overlay_folder);
    let find = |kind: &str| objects.iter().find(|object| object["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"));
    let container = &find("Deployment")["spec"]["template"]["spec"]["containers"][0];
    let image = concat!("registry.internal.example/observability/watchtap:", env!("CARGO_PKG_VERSION"));
    assert_eq!((&container["image"], &container["env"][0]["value"]), (&image.into(), &image.into()));
    let webhook = &find("MutatingWebhookConfiguration")["webhooks"][0];
    assert_eq!(webhook["clientConfig"]["service"]["namespace"], "observability");
    let left_out = json!([{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "observability"]}]);
    assert_eq!(webhook["namespaceSelector"], json!({"matchExpressions": left_out}));
    assert_eq!(find("ClusterRoleBinding")["subjects"][0]["namespace"], "observability");
    let elsewhere = objects.iter().filter(|object| !object["metadata"]["namespace"].is_null());
    let elsewhere = elsewhere.filter(|object| object["metadata"]["namespace"] != "observability").map(named);
    assert_eq!(elsewhere.collect::<Vec<_>>(), [""; 0]);
    // Others may have objects in this namespace, and `kubectl delete --kustomize` would delete them with it.
    assert!(!objects.iter().any(|object| object["kind"] == "Namespace"), "{objects:#?}");
}

/// The objects that `kubectl kustomize` prints.
fn built(folder: &Path) -> Vec<Value> {
    let mut command = Command::new(kubectl().expect("these tests need kubectl on the PATH"));
    let output = output_within(command.arg("kustomize").arg(folder), LIMIT).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    parsed(&String::from_utf8(output.stdout).unwrap())
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}
