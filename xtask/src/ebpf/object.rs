//! The description of an eBPF object: its hashes and the tools that built it. That of a committed object is beside it: `watchtap.bpf.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::toolchain::stdout;
use crate::architecture::Architecture;
use crate::workspace;

const HEADER: &str = "# What `cargo xtask ebpf build` built this object with. `cargo xtask ebpf check` compares.\n";

/// The packages that are compiled into the object.
const COMPILED_IN: &[&str] = &["aya-ebpf"];

const SHA256: &str = "sha256";
const SOURCES: &str = "sources";

/// The source folders, relative to the root of the workspace.
const SOURCE_FOLDERS: &[&str] = &["observer-ebpf/programs", "observer-ebpf/src"];

/// An object: its hash, the hash of its sources, and the versions of its tools.
pub(super) struct Object {
    path: PathBuf,
    sha256: String,
    sources: String,
    tools: BTreeMap<String, String>,
}

/// The file of the object for an architecture. Each has one of its own, because the programs read registers.
pub(super) const fn file(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::Amd64 => "watchtap.bpf.o",
        Architecture::Arm64 => "watchtap.arm64.bpf.o",
    }
}

/// The path of the committed object for an architecture.
pub(super) fn committed(architecture: Architecture) -> PathBuf {
    workspace::root().join("observer-ebpf").join(file(architecture))
}

impl Object {
    /// Describes the object at `path`, which was just built with `tools`.
    pub(super) fn built(path: &Path, mut tools: BTreeMap<String, String>) -> anyhow::Result<Self> {
        let lock = fs::read_to_string(workspace::root().join("Cargo.lock"))?;
        for package in COMPILED_IN {
            let version = locked(&lock, package).with_context(|| format!("Cargo.lock does not have {package}"))?;
            tools.insert((*package).to_owned(), version.to_owned());
        }
        Ok(Self { path: path.to_path_buf(), sha256: sha256(path)?, sources: sources()?, tools })
    }

    /// Reads the description of the object at `path` from the file beside it.
    pub(super) fn described(path: &Path) -> anyhow::Result<Self> {
        let file = description(path);
        let advice = || format!("cannot read {}: `cargo xtask ebpf build` writes it", file.display());
        let mut tools = values(&fs::read_to_string(&file).with_context(advice)?);
        let described = tools.remove(SHA256).with_context(advice)?;
        let sources = tools.remove(SOURCES).with_context(advice)?;
        let sha256 = sha256(path)?;
        anyhow::ensure!(
            described == sha256,
            "{} does not describe the object beside it, whose sha256 is {sha256}: commit both as `cargo xtask ebpf build` wrote them",
            file.display()
        );
        Ok(Self { path: path.to_path_buf(), sha256, sources, tools })
    }

    /// The name of its file.
    pub(super) fn name(&self) -> std::path::Display<'_> {
        Path::new(self.path.file_name().unwrap_or_default()).display()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Writes the description to the file beside the object.
    pub(super) fn save_description(&self) -> anyhow::Result<()> {
        let line = |(name, value): (&str, &str)| format!("{name} = \"{value}\"\n");
        let hashes = line((SHA256, &self.sha256)) + &line((SOURCES, &self.sources));
        let tools: String = self.tools.iter().map(|(name, version)| line((name, version))).collect();
        fs::write(description(&self.path), format!("{HEADER}{hashes}{tools}"))
            .with_context(|| format!("cannot write {}", description(&self.path).display()))
    }

    /// Returns one sentence for each tool whose version differs.
    pub(super) fn tools_that_differ(&self, other: &Self) -> Vec<String> {
        let names: std::collections::BTreeSet<_> = self.tools.keys().chain(other.tools.keys()).collect();
        let version =
            |tools: &BTreeMap<String, String>, name: &String| tools.get(name).cloned().unwrap_or_else(|| String::from("none"));
        names
            .into_iter()
            .map(|name| (name, version(&self.tools, name), version(&other.tools, name)))
            .filter(|(_, own, others)| own != others)
            .map(|(name, own, others)| format!("{name}: {own} then, {others} now"))
            .collect()
    }
}

fn description(object: &Path) -> PathBuf {
    object.with_extension("toml")
}

/// Parses lines of the form `name = "value"`.
fn values(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once(" = "));
    pairs.map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned())).collect()
}

/// The version of a package in a Cargo.lock.
fn locked<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, after) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    after.split('"').next()
}

fn sha256(path: &Path) -> anyhow::Result<String> {
    first_word(&stdout(Command::new("sha256sum").arg("--binary").arg(path))?)
}

/// The hash that `sha256sum` prints before the file name.
fn first_word(output: &str) -> anyhow::Result<String> {
    output.split_whitespace().next().map(str::to_owned).context("sha256sum printed nothing: coreutils must be installed")
}

/// Computes the hash of the names and contents of all sources, so that a change is detected without a toolchain.
fn sources() -> anyhow::Result<String> {
    let root = workspace::root();
    let mut files = Vec::new();
    for folder in SOURCE_FOLDERS {
        for entry in fs::read_dir(root.join(folder)).with_context(|| format!("cannot read {folder}"))? {
            files.push(Path::new(folder).join(entry?.file_name()));
        }
    }
    files.sort();
    let hashes = "sha256sum --binary \"$@\" | sha256sum";
    first_word(&stdout(Command::new("sh").args(["-c", hashes, "sh"]).args(files).current_dir(root))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(tools: &[(&str, &str)]) -> Object {
        let tools = tools.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect();
        Object { path: PathBuf::new(), sha256: String::new(), sources: String::new(), tools }
    }

    #[test]
    fn tools_of_other_versions_are_named() {
        let then = object(&[("llvm", "22.1.8"), ("rustc", "1.96.0")]);
        let now = object(&[("llvm", "22.1.9"), ("rustc", "1.96.0"), ("bpf-linker", "0.13.0")]);
        assert_eq!(then.tools_that_differ(&now), ["bpf-linker: none then, 0.13.0 now", "llvm: 22.1.8 then, 22.1.9 now"]);
        assert!(now.tools_that_differ(&now).is_empty());
    }

    #[test]
    fn locked_version_matches_the_exact_package_name() {
        let lock =
            "[[package]]\nname = \"a-b\"\nversion = \"2.0.0\"\n\n[[package]]\nname = \"a\"\nversion = \"1.2.3\"\nsource = \"x\"\n";
        assert_eq!(locked(lock, "a"), Some("1.2.3"));
        assert_eq!(locked(lock, "b"), None);
    }

    #[test]
    fn committed_objects_match_their_sources() {
        for architecture in Architecture::ALL {
            let object = Object::described(&committed(architecture)).unwrap();
            assert_eq!(
                object.sources,
                sources().unwrap(),
                "observer-ebpf has changed: run `cargo xtask ebpf build`, and commit what it writes"
            );
            let lock = fs::read_to_string(workspace::root().join("Cargo.lock")).unwrap();
            assert_eq!(object.tools.get("aya-ebpf").map(String::as_str), locked(&lock, "aya-ebpf"), "run `cargo xtask ebpf build`");
        }
    }
}
