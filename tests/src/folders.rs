//! Where the harness finds its sources and keeps what it builds and runs.

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

/// Where the matrix leaves what came of it, one file a minor.
pub fn accuracy_folder() -> PathBuf {
    cluster_cache().join("accuracy")
}

/// Where the tests of faults leave what came of them, one file a fault.
pub fn faults_folder() -> PathBuf {
    cluster_cache().join("faults")
}

/// Where the soak leaves its figures.
pub fn soak_folder() -> PathBuf {
    cluster_cache().join("soak")
}

/// The folder of built servers and running clusters, in the target directory: `cargo clean` empties it.
pub(crate) fn cluster_cache() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    workspace().join(target).join("cluster")
}
