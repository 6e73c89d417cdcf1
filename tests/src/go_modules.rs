//! Go modules as folders of files. The tests read manifests from them, of which the licences differ, so that none is committed.
//!
//! A module is pinned by the hash of its files. Modules of the API server have their pins in its lists of sums.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Deserializer, Value};

use crate::folders;
use crate::programs;

/// Lists of pins, in the form of `go.sum`: module, version and hash. A module is in one of them.
const PINS: [&str; 2] = ["manifests/modules.sum", "apiserver/v1.34.sum"];

/// The folders with the files of these modules. Go downloads missing modules once per machine.
pub fn go_modules(modules: &[&str]) -> Result<Vec<PathBuf>> {
    let go = programs::require("go", "to download the modules with the manifests")?;
    let pins = modules.iter().map(|module| pin_of(module)).collect::<Result<Vec<_>>>()?;
    let downloaded = Command::new(go)
        // No module is built, so the folder needs no module file.
        .current_dir(folders::go_sources())
        // The pins take the place of the public list of hashes.
        .envs([("GOWORK", "off"), ("GOFLAGS", ""), ("GOSUMDB", "off")])
        .args(["mod", "download", "-json"])
        .args(pins.iter().map(|(version, _)| version))
        .output()
        .context("cannot run go")?;
    let answers: Vec<Value> = Deserializer::from_slice(&downloaded.stdout).into_iter().collect::<Result<_, _>>()?;
    let stderr = String::from_utf8_lossy(&downloaded.stderr);
    ensure!(answers.len() == pins.len(), "go downloaded {} of {} modules: {stderr}", answers.len(), pins.len());
    // Go answers in the order of the arguments.
    answers.iter().zip(&pins).map(|(answer, (version, hash))| folder_of(answer, version, hash)).collect()
}

/// `module@version` and the hash of a pinned module.
fn pin_of(module: &str) -> Result<(String, String)> {
    for list in PINS {
        let path = folders::go_sources().join(list);
        let pins = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let pin = pins.lines().map(|line| line.split(' ').collect::<Vec<_>>()).find_map(|words| match *words.as_slice() {
            [name, version, hash] if name == module && !version.ends_with("/go.mod") => Some((version.to_owned(), hash.to_owned())),
            _ => None,
        });
        if let Some((version, hash)) = pin {
            return Ok((format!("{module}@{version}"), hash));
        }
    }
    anyhow::bail!("{module} has no pin in {PINS:?}")
}

fn folder_of(answer: &Value, version: &str, hash: &str) -> Result<PathBuf> {
    ensure!(answer["Error"].is_null(), "go cannot download {version}: {}", answer["Error"]);
    let is = format!("{}@{}", answer["Path"].as_str().unwrap_or_default(), answer["Version"].as_str().unwrap_or_default());
    ensure!(is == version, "go answered {is} instead of {version}");
    ensure!(answer["Sum"] == hash, "{version} has the hash {}, not that of its pin, {hash}", answer["Sum"]);
    answer["Dir"].as_str().map(PathBuf::from).with_context(|| format!("go names no folder of {version}"))
}
