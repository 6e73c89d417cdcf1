//! The folders of the test harness: sources, builds and results.

use std::path::{Path, PathBuf};

/// The workspace of watchtap.
fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// The Go programs, one folder each.
pub(crate) fn go_sources() -> PathBuf {
    workspace().join("tests/cluster/go")
}

/// The documents of watchtap.
pub(crate) fn documents() -> PathBuf {
    workspace().join("docs")
}

/// The folder that Helm installs.
pub fn chart() -> PathBuf {
    workspace().join("deploy/chart")
}

/// The folder of the chart's objects for kustomize.
pub(crate) fn kustomize() -> PathBuf {
    workspace().join("deploy/kustomize")
}

/// The Java programs and the lists of their libraries.
pub(crate) fn java_sources() -> PathBuf {
    workspace().join("tests/cluster/java")
}

/// The JavaScript program and the list of its libraries.
pub(crate) fn javascript_sources() -> PathBuf {
    workspace().join("tests/cluster/javascript")
}

/// The Python program.
pub(crate) fn python_sources() -> PathBuf {
    workspace().join("tests/cluster/python")
}

/// Results of the matrix, one file per minor.
pub fn accuracy_folder() -> PathBuf {
    cluster_cache().join("accuracy")
}

/// Comparisons of logs with live runs, one file per story.
pub fn log_accuracy_folder() -> PathBuf {
    cluster_cache().join("log-accuracy")
}

/// Results of the fault tests, one file per fault.
pub fn faults_folder() -> PathBuf {
    cluster_cache().join("faults")
}

/// Values of the panels of the boards.
pub fn panels_folder() -> PathBuf {
    cluster_cache().join("panels")
}

/// Results of the kernels that virtual machines boot, one file per kernel.
pub fn kernels_folder() -> PathBuf {
    cluster_cache().join("kernels")
}

/// Figures of the soak test.
pub fn soak_folder() -> PathBuf {
    cluster_cache().join("soak")
}

/// Kernels for virtual machines. `cargo clean` removes them, too.
pub(crate) fn vm_cache() -> PathBuf {
    target().join("vm")
}

/// Built servers and running clusters. The folder is in the target directory, so `cargo clean` removes it.
pub(crate) fn cluster_cache() -> PathBuf {
    target().join("cluster")
}

fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    workspace().join(target)
}
