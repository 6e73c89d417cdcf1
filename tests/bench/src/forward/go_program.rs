//! Builds the Go program of the bench from sources that this binary contains. It uses only Go's standard library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

const SOURCES: [(&str, &str); 4] = [
    ("go.mod", include_str!("../../go/go.mod")),
    ("main.go", include_str!("../../go/main.go")),
    ("server.go", include_str!("../../go/server.go")),
    ("client.go", include_str!("../../go/client.go")),
];

/// The version of the Go toolchain, such as `go1.26.8`; `None` if there is none.
pub(super) fn version() -> Option<String> {
    let output = Command::new("go").args(["env", "GOVERSION"]).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// Builds the program below `folder`.
pub(super) fn build(folder: &Path) -> Result<PathBuf> {
    let sources = folder.join("go");
    fs::create_dir_all(&sources)?;
    for (name, text) in SOURCES {
        fs::write(sources.join(name), text)?;
    }
    let program = folder.join("go-peer");
    let mut go = Command::new("go");
    go.current_dir(&sources).envs([("CGO_ENABLED", "0"), ("GOWORK", "off"), ("GOFLAGS", ""), ("GOTOOLCHAIN", "local")]);
    // The results may be read from standard output, so nothing else may be printed there.
    go.args(["build", "-trimpath", "-buildvcs=false", "-o"]).arg(&program).arg(".").stdout(Stdio::null());
    let status = go.status().context("cannot start go")?;
    ensure!(status.success(), "the Go program of the bench does not build: {status}");
    Ok(program)
}
