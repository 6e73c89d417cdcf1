//! The Go program `client`, which speaks to an API server as client-go does.

use std::path::PathBuf;

use anyhow::Result;

use crate::binaries::required_version;
use crate::folders;
use crate::go_build::GoProgram;

/// Builds the program, if this machine has not yet; that takes Go, and a minute or two.
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
