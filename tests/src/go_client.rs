//! The Go program `client`, which speaks to an API server as client-go does.

use std::path::PathBuf;

use anyhow::Result;

use crate::folders;
use crate::go_build::GoProgram;

/// The client-go that `tests/cluster/go/client/go.mod` requires.
const CLIENT_GO: &str = "0.37.2";

/// Builds the program, if this machine has not yet; that takes Go, and a minute or two.
pub fn go_client() -> Result<PathBuf> {
    let program = GoProgram {
        name: "client",
        folder: &folders::go_sources().join("client"),
        module_file: "go.mod",
        version: CLIENT_GO,
        link_flags: "",
        first_build_takes: "one or two minutes",
    };
    program.build(&folders::cluster_cache())
}
