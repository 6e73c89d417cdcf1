//! The objects of the chart as folders for kustomize: `deploy/kustomize`, which `cargo xtask chart` writes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::folders;
use crate::helm::{Helm, HelmRelease};

/// The release and the namespace in the rendered objects.
const NAME: &str = "watchtap";
/// An image that no registry has: each user names one.
const IMAGE: [&str; 2] = ["--set=image.registry=registry.example:5000", "--set=image.repository=watchtap"];
/// The folders with the values that differ from the defaults. Each has the objects that those before it lack. The boards are left out: as
/// objects, they would be a second copy of two large files. So is a namespace: an overlay with another `namespace` would rename it, and so
/// change, or later delete, a namespace of others.
const FOLDERS: [(&str, &[&str]); 4] = [
    ("base", &[]),
    ("probe", &["--set=probe.enabled=true"]),
    ("control-plane-probe", &["--set=controlPlaneProbe.enabled=true"]),
    (
        "monitoring",
        &[
            "--set=podMonitor.enabled=true",
            "--set=prometheusRule.enabled=true",
            "--set=probe.enabled=true",
            "--set=controlPlaneProbe.enabled=true",
        ],
    ),
];
const HEADER: &str = "# Made by `cargo xtask chart` from deploy/chart.\n";
/// Lines of labels that are true of Helm's releases only.
const OF_HELM: [&str; 2] = ["helm.sh/chart:", "app.kubernetes.io/managed-by:"];

/// The files by their paths in `deploy/kustomize`.
pub type Files = BTreeMap<String, String>;

/// The files as the chart makes them now.
pub fn rendered() -> Result<Files> {
    let helm = Helm::of(HelmRelease::V4)?;
    let chart = folders::chart().display().to_string();
    let mut files = Files::new();
    for (folder, values) in FOLDERS {
        let arguments: Vec<&str> =
            ["template", NAME, &chart, "--namespace", NAME].into_iter().chain(IMAGE).chain(values.iter().copied()).collect();
        let mut objects = by_template(&helm.run(&arguments)?)?;
        objects.retain(|file, _| !files.keys().any(|of_folder| of_folder.rsplit_once('/').is_some_and(|(_, name)| name == file)));
        let resources: String = objects.keys().flat_map(|file| ["  - ", file, "\n"]).collect();
        let list = format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{resources}");
        files.insert(format!("{folder}/kustomization.yaml"), format!("{HEADER}{list}"));
        files.extend(objects.into_iter().map(|(file, text)| (format!("{folder}/{file}"), format!("{HEADER}{text}"))));
    }
    Ok(files)
}

/// The files as they are in this checkout.
pub fn present() -> Result<Files> {
    let root = folders::kustomize();
    let mut files = Files::new();
    let folders = if root.exists() { fs::read_dir(&root)?.collect::<Result<Vec<_>, _>>()? } else { Vec::new() };
    for folder in folders {
        for file in fs::read_dir(folder.path()).with_context(|| format!("{} is no folder", folder.path().display()))? {
            let path = file?.path();
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            files.insert(path.strip_prefix(&root)?.display().to_string(), text);
        }
    }
    Ok(files)
}

/// Replaces the files in this checkout.
pub fn write(files: &Files) -> Result<PathBuf> {
    let root = folders::kustomize();
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    for (file, text) in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(root)
}

/// The documents of `helm template` by the names of their templates. Each has a comment with the template.
fn by_template(rendered: &str) -> Result<Files> {
    let mut files = Files::new();
    for document in rendered.split("---\n").filter(|document| !document.trim().is_empty()) {
        let (source, object) = document.split_once('\n').context("a document is one line")?;
        let source = source.strip_prefix("# Source: watchtap/templates/").with_context(|| format!("a document of {source}"))?;
        let lines = object.lines().filter(|line| !OF_HELM.iter().any(|label| line.trim_start().starts_with(label)));
        let object: String = lines.flat_map(|line| [line.trim_end(), "\n"]).collect();
        let file = files.entry(source.to_owned()).or_default();
        for part in ["---\n", object.trim(), "\n"] {
            file.push_str(part);
        }
    }
    ensure!(!files.is_empty(), "the chart makes no objects");
    Ok(files)
}
