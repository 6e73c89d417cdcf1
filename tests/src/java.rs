//! A watch of fabric8's client for Java: the program `tests/cluster/java/EventWatcher.java`, with libraries from Maven's registry.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::folders;
use crate::programs;

/// A command for the program, to which its arguments are added. `None`, with a message, if a program is missing or the libraries
/// cannot be downloaded.
pub fn java_event_watcher() -> Result<Option<Command>> {
    let Some(libraries) = maven_libraries(&folders::java_sources().join("pom.xml"))? else {
        writeln!(stdout().lock(), "left out: fabric8's client needs `java`, `mvn` and Maven's registry")?;
        return Ok(None);
    };
    let mut java = Command::new("java");
    java.arg("--class-path").arg(libraries.join("*")).arg(folders::java_sources().join("EventWatcher.java"));
    Ok(Some(java))
}

/// A folder with the libraries of this Maven project and theirs; it is filled once per machine. `None` if a program is missing or they
/// cannot be downloaded.
pub(crate) fn maven_libraries(project: &Path) -> Result<Option<PathBuf>> {
    let Some((mvn, _java)) = programs::find("mvn").zip(programs::find("java")) else { return Ok(None) };
    let all = folders::cluster_cache().join("java");
    let mut hasher = DefaultHasher::new();
    fs::read(project).with_context(|| format!("cannot read {}", project.display()))?.hash(&mut hasher);
    let folder = all.join(format!("{:016x}", hasher.finish()));
    fs::create_dir_all(&all)?;
    let lock = File::create(all.join("lock"))?;
    // Maven's own folder of libraries is not safe for several processes at once.
    lock.lock()?;
    if !folder.exists() {
        let filling = tempfile::tempdir_in(&all)?;
        let mut download = Command::new(mvn);
        download.args(["--batch-mode", "--quiet", "-Dstyle.color=never", "--file"]).arg(project);
        download.arg("dependency:copy-dependencies").arg(format!("-DoutputDirectory={}", filling.path().display()));
        if !download.status()?.success() {
            return Ok(None);
        }
        fs::rename(filling.keep(), &folder)?;
    }
    Ok(Some(folder))
}
