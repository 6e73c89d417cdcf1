//! `--check`: builds the same commit a second time under other circumstances, and compares every byte.
//!
//! The second build is a process of its own in a clone of the repository. Folders, home, umask, time zone, language and number of jobs
//! differ, and nothing is built yet. Only the C compiler and the packages that cargo has downloaded are shared.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, ensure};

use super::architecture::Architecture;
use super::build;
use super::command::materials_beside;
use super::source::Source;
use crate::workspace;

/// The parts of cargo's home that the second build shares. It unpacks the packages in its own home.
const SHARED: [&str; 4] = ["config.toml", "credentials.toml", "registry/cache", "registry/index"];

/// Returns an error if there is no commit to build again.
pub(super) fn possible(source: &Source) -> anyhow::Result<()> {
    let revision = source.revision.as_ref().context("--check needs git: it builds a clone of this repository")?;
    ensure!(!revision.ends_with("-dirty"), "--check builds a clone of the last commit: commit or stash your changes first");
    Ok(())
}

/// Builds again, and compares with the image in `output`.
pub(super) fn execute(compiler: &Path, output: &Path, architectures: &[Architecture], name: &str) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let other = Other::new(&workspace::target().join("image/second build"))?;
    println!("\n== check: second build, in {}", other.folder.display());
    let again = other.folder.join("image.tar");
    other.build(compiler, &again, architectures, name)?;
    let (output, again) = (output.to_path_buf(), again);
    let mut pairs = Vec::new();
    for architecture in architectures {
        pairs.push((build::program_path(*architecture), other.program_path(*architecture)));
        pairs.push((materials_beside(&output, *architecture), materials_beside(&again, *architecture)));
    }
    pairs.push((output, again));
    for (first, second) in &pairs {
        if let Some(difference) = difference(&read(first)?, &read(second)?) {
            println!("== check: not reproducible, {difference}:\n  {}\n  {}", first.display(), second.display());
            return Ok(ExitCode::FAILURE);
        }
    }
    fs::remove_dir_all(&other.folder)?;
    println!("== check: reproducible, {} files are equal, {:.1} s", pairs.len(), begun.elapsed().as_secs_f64());
    Ok(ExitCode::SUCCESS)
}

/// The folder of the second build.
struct Other {
    folder: PathBuf,
}

impl Other {
    /// Clones the repository into `folder`, and prepares a home there.
    fn new(folder: &Path) -> anyhow::Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        let other = Self { folder: folder.to_path_buf() };
        let cargo_home = other.cargo_home();
        fs::create_dir_all(cargo_home.join("registry"))?;
        for part in SHARED {
            let shared = crate::remapping::cargo_home()?.join(part);
            if shared.exists() {
                symlink(&shared, cargo_home.join(part))?;
            }
        }
        let cloned =
            Command::new("git").args(["clone", "--quiet", "--shared"]).arg(workspace::root()).arg(other.checkout()).status();
        ensure!(cloned.context("cannot start git")?.success(), "git cannot clone this repository: see its messages above");
        Ok(other)
    }

    fn checkout(&self) -> PathBuf {
        self.folder.join("a checkout")
    }

    fn target(&self) -> PathBuf {
        self.folder.join("a target")
    }

    fn cargo_home(&self) -> PathBuf {
        self.folder.join("a home/.cargo")
    }

    fn program_path(&self, architecture: Architecture) -> PathBuf {
        self.target().join("image/build").join(architecture.target()).join("release/watchtap")
    }

    /// Runs this task there, with other settings of everything that must have no effect.
    fn build(&self, compiler: &Path, output: &Path, architectures: &[Architecture], name: &str) -> anyhow::Result<()> {
        let task = std::env::current_exe()?;
        let mut shell = Command::new("sh");
        shell.args(["-c", "umask 077; exec \"$@\"", "sh"]).arg(task).arg("image").current_dir(self.checkout());
        shell.arg("--output").arg(output).arg("--compiler").arg(compiler).args(["--name", name]);
        for architecture in architectures {
            shell.args(["--architecture", architecture.name()]);
        }
        let rustup = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
        let rustup = rustup.or_else(|| std::env::home_dir().map(|home| home.join(".rustup"))).context("this user has no home")?;
        shell.env("RUSTUP_HOME", rustup).env("HOME", self.folder.join("a home")).env("CARGO_HOME", self.cargo_home());
        shell.env("CARGO_MANIFEST_DIR", self.checkout().join("xtask")).env("CARGO_TARGET_DIR", self.target());
        shell.env("CARGO_BUILD_JOBS", "3").env("TZ", "Pacific/Chatham").env("LC_ALL", "C").env("CFLAGS", "-O0");
        let status = shell.status().context("cannot start sh")?;
        ensure!(status.success(), "the second build failed: see its messages above");
        Ok(())
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Where two contents differ first, in words.
fn difference(first: &[u8], second: &[u8]) -> Option<String> {
    if let Some(at) = first.iter().zip(second).position(|(first, second)| first != second) {
        return Some(format!("first at byte {at}"));
    }
    (first.len() != second.len()).then(|| format!("{} and {} bytes", first.len(), second.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_difference_is_found() {
        assert_eq!(difference(b"same", b"same"), None);
        assert_eq!(difference(b"same", b"some").as_deref(), Some("first at byte 1"));
        assert_eq!(difference(b"same", b"same more").as_deref(), Some("4 and 9 bytes"));
    }

    #[test]
    fn only_a_clean_commit_can_be_built_again() {
        let source = |revision: Option<&str>| Source {
            version: String::new(),
            revision: revision.map(str::to_owned),
            repository: None,
            time: 0,
        };
        possible(&source(Some("abc"))).unwrap();
        assert!(possible(&source(Some("abc-dirty"))).unwrap_err().to_string().contains("commit or stash"));
        assert!(possible(&source(None)).is_err());
    }
}
