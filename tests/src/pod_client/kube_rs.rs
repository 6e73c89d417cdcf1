//! The root filesystem of the kube-rs program: the binary of this workspace, without debug information, and its libraries.

use std::process::Command;

use anyhow::Result;

use super::root::{PodRoot, assemble, require, run};
use super::shared_libraries::copy_shared_libraries;
use crate::programs;

pub(super) fn root() -> Result<PodRoot> {
    let strip = require("strip")?;
    let built = programs::built("kube-informer")?;
    let metadata = built.metadata()?;
    assemble("kube-rs", (metadata.len(), metadata.modified()?), &["/app/informer"], |root| {
        std::fs::create_dir(root.join("app"))?;
        let stripped = root.join("app/informer");
        run(Command::new(strip).arg("-o").arg(&stripped).arg(&built))?;
        copy_shared_libraries(&[stripped], root)
    })
}
