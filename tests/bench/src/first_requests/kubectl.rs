//! kubectl with a cache of the discovery documents, so that it sends one request.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The kubectl on the PATH, or the newest `kubectl.1.N` in its folder. In some packages, `kubectl` only chooses one of these.
pub(super) fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("kubectl")).find(|file| file.is_file())?;
    let on_path = fs::canonicalize(on_path).ok()?;
    let beside = fs::read_dir(on_path.parent()?).ok()?.flatten().filter_map(|entry| {
        let minor: u32 = entry.file_name().to_str()?.strip_prefix("kubectl.1.")?.parse().ok()?;
        Some((minor, entry.path()))
    });
    Some(beside.max().map_or(on_path, |(_, file)| file))
}

/// `kubectl get configmaps` in a namespace, with its cache and its kubeconfig in `folder`.
pub(super) fn get(program: &Path, folder: &Path, namespace: &str) -> Result<()> {
    let mut kubectl = Command::new(program);
    kubectl.env_clear().env("HOME", folder).arg("--kubeconfig").arg(folder.join("kubeconfig"));
    kubectl.arg("--cache-dir").arg(folder.join("cache")).args(["get", "configmaps", "--namespace", namespace]);
    let output = kubectl.stdin(Stdio::null()).output().context("cannot start kubectl")?;
    ensure!(output.status.success(), "kubectl failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
