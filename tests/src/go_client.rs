//! Builds the Go programs `client`, which uses an API server as client-go does, `controllers`, and `late`, which keeps one HTTP/2
//! connection open.

use std::path::PathBuf;

use anyhow::Result;

use crate::binaries::required_version;
use crate::folders;
use crate::go_build::GoProgram;

/// Builds `client` unless this machine has it. It needs Go and takes a minute or two.
pub fn go_client() -> Result<PathBuf> {
    let folder = folders::go_sources().join("client");
    let program = GoProgram {
        name: "client",
        folder: &folder,
        module_file: "go.mod",
        version: &required_version(&folder.join("go.mod"), "k8s.io/client-go")?,
        link_flags: "",
        first_build_takes: "one or two minutes",
    };
    program.build(&folders::cluster_cache())
}

/// Builds `controllers` unless this machine has it. It needs Go and takes a minute or two.
pub fn go_controllers() -> Result<PathBuf> {
    let folder = folders::go_sources().join("controllers");
    let program = GoProgram {
        name: "controllers",
        folder: &folder,
        module_file: "go.mod",
        version: &required_version(&folder.join("go.mod"), "sigs.k8s.io/controller-runtime")?,
        link_flags: "",
        first_build_takes: "one or two minutes",
    };
    program.build(&folders::cluster_cache())
}

/// Builds `late` unless this machine has it. It needs Go and takes seconds.
pub fn go_late_client() -> Result<PathBuf> {
    let folder = folders::go_sources().join("late");
    let program = GoProgram {
        name: "late",
        folder: &folder,
        module_file: "go.mod",
        version: &required_version(&folder.join("go.mod"), "golang.org/x/net")?,
        link_flags: "",
        first_build_takes: "some seconds",
    };
    program.build(&folders::cluster_cache())
}
