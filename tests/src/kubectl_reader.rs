//! Manifests as kubectl reads them: the objects of a file, by the decoder of k8s.io/apimachinery.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::binaries::required_version;
use crate::folders;
use crate::go_build::GoProgram;

/// The objects of each file in order, or the reason why kubectl cannot read the file.
pub fn objects_as_kubectl_reads_them(files: &[PathBuf]) -> Result<Vec<Result<Vec<Value>, String>>> {
    let folder = folders::go_sources().join("manifests");
    let program = GoProgram {
        name: "manifests",
        folder: &folder,
        module_file: "go.mod",
        version: &required_version(&folder.join("go.mod"), "k8s.io/apimachinery")?,
        link_flags: "",
        first_build_takes: "some seconds",
    };
    let binary = program.build(&folders::cluster_cache())?;
    let output = Command::new(&binary).args(files).output().with_context(|| format!("cannot run {}", binary.display()))?;
    ensure!(output.status.success(), "{} failed: {}", binary.display(), String::from_utf8_lossy(&output.stderr));
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let read: Vec<_> = lines.map(read).collect();
    ensure!(read.len() == files.len(), "{} read {} of {} files", binary.display(), read.len(), files.len());
    Ok(read)
}

/// Fails also for objects that are nested too deeply for `serde_json`.
fn read(line: &[u8]) -> Result<Vec<Value>, String> {
    let mut manifest: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    match manifest["error"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => serde_json::from_value(manifest["objects"].take()).map_err(|error| error.to_string()),
    }
}
