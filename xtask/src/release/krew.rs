//! The manifest of the kubectl plug-in for krew, from the template in `deploy/krew` (kubernetes-sigs/krew `internal/index/validation`).

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, ensure};

use super::archive::Archive;
use super::checksums::sum;
use crate::image::Source;
use crate::workspace;

pub(super) const FILE_NAME: &str = "watchtap.yaml";

/// The words of the manifest. Each placeholder is `@NAME@`.
const TEMPLATE: &str = "deploy/krew/watchtap.yaml.in";

/// The manifest of these archives, which will be at `address`. `homepage` is a page for readers.
pub(super) fn manifest(archives: &[Archive], address: &str, homepage: &str, source: &Source) -> anyhow::Result<String> {
    let template = fs::read_to_string(workspace::root().join(TEMPLATE)).with_context(|| format!("cannot read {TEMPLATE}"))?;
    let mut platforms = String::new();
    for archive in archives {
        platform(archive, address, &mut platforms)?;
    }
    let filled = [("@VERSION@", source.version.as_str()), ("@HOMEPAGE@", homepage), ("@PLATFORMS@\n", &platforms)];
    let mut manifest = template;
    for (placeholder, value) in filled {
        ensure!(manifest.contains(placeholder), "{TEMPLATE} has no {}", placeholder.trim_end());
        manifest = manifest.replace(placeholder, value);
    }
    // Comments of the template are for its readers.
    let lines = manifest.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n"));
    Ok(lines.collect())
}

/// krew unpacks the archive, moves these files, and links the program as `kubectl-watchtap`.
fn platform(archive: &Archive, address: &str, out: &mut String) -> anyhow::Result<()> {
    let Archive { architecture, name, folder, content } = archive;
    writeln!(out, "  - selector:\n      matchLabels:\n        os: linux\n        arch: {}", architecture.name())?;
    writeln!(out, "    uri: {address}/{name}\n    sha256: {}\n    bin: watchtap\n    files:", sum(content))?;
    for file in ["watchtap", "LICENSE", "THIRD-PARTY-LICENSES"] {
        writeln!(out, "    - from: {folder}/{file}\n      to: .")?;
    }
    Ok(())
}
