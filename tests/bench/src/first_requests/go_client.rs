//! A client in Go that asks soon after its start.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};
use observer_demo::DemoServer;

/// Number of requests of each program. A probe that examines a program for a tenth of a second sees the last ones.
pub(super) const REQUESTS: u32 = 100;

/// The client of the tests, whose arguments it describes.
const SOURCE: &str = include_str!("../../../cluster/go/first/main.go");

/// Builds the client in `folder`.
pub(super) fn build(folder: &Path) -> Result<PathBuf> {
    let (source, program) = (folder.join("first.go"), folder.join("first"));
    fs::write(&source, SOURCE)?;
    let mut build = Command::new("go");
    build.args(["build", "-ldflags", "-s -w", "-o"]).arg(&program).arg(&source).stdout(Stdio::null());
    ensure!(build.envs([("GO111MODULE", "off"), ("CGO_ENABLED", "0")]).status()?.success(), "go build failed");
    Ok(program)
}

/// Runs a copy of the client, which asks `wait` milliseconds after its start.
pub(super) fn ask(program: &Path, server: &DemoServer, name: &str, wait: u32) -> Result<()> {
    let mut client = Command::new(program);
    client.args([server.address().to_string().as_str(), server.ca_pem(), server.token()]);
    let started = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    client.args([started.to_string().as_str(), &format!("{wait}ms"), &REQUESTS.to_string(), name]);
    let status = client.stdin(Stdio::null()).status()?;
    ensure!(status.success(), "the client failed: {status}");
    Ok(())
}
