//! Standard libraries of targets other than this machine's.

use std::path::Path;
use std::process::{Command, Stdio};

/// Installs the standard library of `target` with rustup if it is missing. The error is the reason if that fails.
pub(crate) fn install(target: &str) -> Result<(), String> {
    let folder = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    let folder = folder.map_err(|error| format!("rustc: {error}"))?;
    if Path::new(String::from_utf8_lossy(&folder.stdout).trim()).is_dir() {
        return Ok(());
    }
    let added = Command::new("rustup").args(["target", "add", target]).stdin(Stdio::null()).output();
    let added = added.map_err(|error| format!("rustup: {error}"))?;
    let said = String::from_utf8_lossy(&added.stderr);
    if added.status.success() { Ok(()) } else { Err(said.lines().last().unwrap_or("rustup failed").to_owned()) }
}
