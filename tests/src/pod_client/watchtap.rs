//! The root filesystem of watchtap as the tests have built it: stripped, with the shared libraries that it needs.

use std::process::Command;

use anyhow::Result;

use super::root::{PodRoot, assemble, require, run};
use super::shared_libraries::copy_shared_libraries;
use crate::programs;

/// A root with watchtap at `/watchtap`, as in its image. `cargo xtask image` builds the static program of the image, which takes
/// minutes.
pub fn watchtap_root() -> Result<PodRoot> {
    let strip = require("strip")?;
    let built = programs::built("watchtap")?;
    let metadata = built.metadata()?;
    assemble("watchtap", (metadata.len(), metadata.modified()?), &["/watchtap"], |root| {
        let stripped = root.join("watchtap");
        run(Command::new(strip).arg("-o").arg(&stripped).arg(&built))?;
        copy_shared_libraries(&[stripped], root)
    })
}
