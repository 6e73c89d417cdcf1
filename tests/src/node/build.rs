//! The Go programs of a node that the tests build.

use std::path::PathBuf;

use anyhow::Result;

use crate::binaries::{Minor, required_version, version_link_flags};
use crate::folders;
use crate::go_build::GoProgram;
use crate::go_client::without_modules;

/// The kubelet, kube-controller-manager and kube-scheduler in one program: each name it is started with is a part.
pub(super) fn node() -> Result<PathBuf> {
    let folder = folders::go_sources().join("node");
    let version = required_version(&folder.join("go.mod"), "k8s.io/kubernetes")?;
    let program = GoProgram {
        name: "node",
        folder: &folder,
        module_file: "go.mod",
        version: &version,
        link_flags: &version_link_flags(Minor::DEFAULT, &version),
        first_build_takes: "2 to 4 minutes",
    };
    program.build(&folders::cluster_cache())
}

/// The first process of a pod.
pub(super) fn pause() -> Result<PathBuf> {
    without_modules("pause")
}
