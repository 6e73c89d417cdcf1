//! The packages whose code is in the program, as cargo resolves them for the target and features of the build.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use xshell::cmd;

use super::build::FEATURES;
use crate::architecture::Architecture;
use crate::workspace;

/// A package of one version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    pub(super) name: String,
    pub(super) version: String,
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name, self.version)
    }
}

/// A package that is linked into the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Package {
    /// An SPDX expression, or empty.
    pub(super) license: String,
    /// The SHA-256 of the archive in the registry; `None` for a package of the workspace.
    pub(super) checksum: Option<String>,
    pub(super) depends_on: BTreeSet<Id>,
}

impl Package {
    /// Adds what the package has in another program.
    fn merge(&mut self, other: Self) {
        self.license = other.license;
        self.checksum = other.checksum;
        self.depends_on.extend(other.depends_on);
    }
}

/// All linked packages.
pub(super) type Packages = BTreeMap<Id, Package>;

/// The target of the eBPF programs, which are in the program as an object.
pub(super) const EBPF_TARGET: &str = "bpfel-unknown-none";

/// Asks cargo for the packages of the program. Packages that only build scripts and procedural macros use are not linked.
pub(super) fn linked(architecture: Architecture) -> anyhow::Result<Packages> {
    let program = ["--package", "observer", "--no-default-features", "--features", FEATURES, "--target", architecture.target()];
    let ebpf = ["--package", "observer-ebpf", "--features", "programs", "--target", EBPF_TARGET];
    let lock = fs::read_to_string(workspace::root().join("Cargo.lock"))?;
    let checksums = checksums(&lock);
    let mut packages = parse(&tree(&program)?, &checksums)?;
    for (id, package) in parse(&tree(&ebpf)?, &checksums)? {
        packages.entry(id).or_default().merge(package);
    }
    Ok(packages)
}

/// The tree of these packages, in the form that [`parse`] reads.
fn tree(selection: &[&str]) -> anyhow::Result<String> {
    let shell = workspace::shell()?;
    let form = ["--edges", "normal,no-proc-macro", "--prefix", "depth", "--format", "\t{p}\t{l}"];
    Ok(cmd!(shell, "cargo tree --quiet --locked {selection...} {form...}").quiet().read()?)
}

/// Parses lines of the form `DEPTH<tab>NAME vVERSION …<tab>LICENCE`. Below a repeated package, its dependencies are left out.
fn parse(tree: &str, checksums: &BTreeMap<Id, String>) -> anyhow::Result<Packages> {
    let mut packages = Packages::new();
    let mut ancestors: Vec<Id> = Vec::new();
    for line in tree.lines() {
        let unknown = || format!("cargo tree printed an unknown line: {line}");
        let mut fields = line.split('\t');
        let depth: usize = fields.next().and_then(|depth| depth.parse().ok()).with_context(unknown)?;
        let mut words = fields.next().with_context(unknown)?.split(' ');
        let name = words.next().with_context(unknown)?.to_owned();
        let version = words.next().and_then(|version| version.strip_prefix('v')).with_context(unknown)?.to_owned();
        let license = fields.next().with_context(unknown)?.trim_end_matches(" (*)");
        let id = Id { name, version };
        ancestors.truncate(depth);
        if let Some(parent) = ancestors.last().and_then(|parent| packages.get_mut(parent)) {
            parent.depends_on.insert(id.clone());
        }
        let package = packages.entry(id.clone()).or_default();
        // Old manifests separate alternatives by a slash.
        package.license = license.replace('/', " OR ");
        package.checksum = checksums.get(&id).cloned();
        ancestors.push(id);
    }
    Ok(packages)
}

/// The checksums in a Cargo.lock.
fn checksums(lock: &str) -> BTreeMap<Id, String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        line.map(|line| line.trim_end_matches('"').to_owned())
    };
    let packages = lock.split("[[package]]\n").filter_map(|block| {
        let id = Id { name: value(block, "name")?, version: value(block, "version")? };
        Some((id, value(block, "checksum")?))
    });
    packages.collect()
}

/// The linked code that is no package of Cargo.lock.
pub(super) struct System {
    pub(super) rust: RustRelease,
    pub(super) musl: String,
}

impl System {
    pub(super) fn linked(architecture: Architecture) -> anyhow::Result<Self> {
        Ok(Self { rust: RustRelease::installed()?, musl: musl_version(architecture)? })
    }

    /// Name and version of the standard library, and of musl.
    pub(super) fn components(&self) -> [String; 2] {
        [format!("{STANDARD_LIBRARY} {}", self.rust.version), format!("{MUSL} {}", self.musl)]
    }
}

/// Names in bills of materials.
pub(super) const STANDARD_LIBRARY: &str = "rust-std";
pub(super) const MUSL: &str = "musl";

/// The installed Rust release. Its standard library is linked, too.
pub(super) struct RustRelease {
    pub(super) version: String,
    pub(super) commit: String,
}

impl RustRelease {
    pub(super) fn installed() -> anyhow::Result<Self> {
        let shell = workspace::shell()?;
        let printed = cmd!(shell, "rustc -vV").quiet().read()?;
        let value = |key: &str| {
            let line = printed.lines().find_map(|line| line.strip_prefix(key));
            line.map(str::to_owned).with_context(|| format!("`rustc -vV` prints no {key:?}: {printed}"))
        };
        Ok(Self { version: value("release: ")?, commit: value("commit-hash: ")? })
    }
}

pub(super) fn sysroot() -> anyhow::Result<PathBuf> {
    let shell = workspace::shell()?;
    Ok(cmd!(shell, "rustc --print sysroot").quiet().read()?.into())
}

/// The version of the musl in the Rust release, which states it only inside its static library.
fn musl_version(architecture: Architecture) -> anyhow::Result<String> {
    let library = format!("lib/rustlib/{}/lib/self-contained/libc.a", architecture.target());
    let library = sysroot()?.join(library);
    let bytes = fs::read(&library).with_context(|| format!("cannot read {}", library.display()))?;
    find_version(&bytes).with_context(|| format!("{} does not state its version", library.display()))
}

/// The text of the form `1.2.N` that stands by itself.
fn find_version(library: &[u8]) -> Option<String> {
    let texts = library.split(|byte| *byte == 0).filter_map(|text| std::str::from_utf8(text).ok());
    let is_version = |text: &&str| text.strip_prefix("1.2.").is_some_and(|patch| patch.parse::<u8>().is_ok());
    texts.into_iter().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str, version: &str) -> Id {
        Id { name: name.to_owned(), version: version.to_owned() }
    }

    #[test]
    fn tree_and_lock_file_are_joined() {
        let tree = "0\tobserver v0.1.0 (/tmp/x)\tApache-2.0\n1\tbytes v1.12.1\tMIT\n1\thttp v1.5.0\tMIT/Apache-2.0\n\
                    2\tbytes v1.12.1\tMIT\n2\titoa v1.0.0\t\n1\titoa v1.0.0\t (*)\n";
        let lock = "version = 4\n\n[[package]]\nname = \"bytes\"\nversion = \"1.12.1\"\nsource = \"x\"\nchecksum = \"1e74\"\n\n\
                    [[package]]\nname = \"observer\"\nversion = \"0.1.0\"\ndependencies = [\n \"bytes\",\n]\n";
        let packages = parse(tree, &checksums(lock)).unwrap();
        assert_eq!(packages.len(), 4);
        let observer = &packages[&id("observer", "0.1.0")];
        assert_eq!(observer.checksum, None);
        let dependencies = [id("bytes", "1.12.1"), id("http", "1.5.0"), id("itoa", "1.0.0")];
        assert_eq!(observer.depends_on, BTreeSet::from(dependencies));
        assert_eq!(packages[&id("bytes", "1.12.1")].checksum.as_deref(), Some("1e74"));
        let http = &packages[&id("http", "1.5.0")];
        assert_eq!((http.license.as_str(), http.depends_on.len()), ("MIT OR Apache-2.0", 2));
    }

    #[test]
    fn unknown_line_is_an_error() {
        assert!(parse("observer v0.1.0\n", &BTreeMap::new()).is_err());
    }

    #[test]
    fn musl_version_is_a_text_of_its_own() {
        assert_eq!(find_version(b"x1.2.9\0\xff\x001.2.5\0"), Some(String::from("1.2.5")));
        assert_eq!(find_version(b"1.2.x\0GLIBC_2.36\0"), None);
    }

    #[test]
    fn program_has_no_demo_and_no_package_of_the_build() {
        let packages = linked(Architecture::Amd64).unwrap();
        let names: BTreeSet<&str> = packages.keys().map(|id| id.name.as_str()).collect();
        for linked in ["observer", "observer-core", "aws-lc-sys", "rustls", "aya", "aya-ebpf"] {
            assert!(names.contains(linked), "{linked} is missing: {names:?}");
        }
        for other in ["observer-demo", "kube-runtime", "serde_derive", "syn", "cc", "proptest"] {
            assert!(!names.contains(other), "{other} is not in the program");
        }
        let is_complete = |(id, package): (&Id, &Package)| id.name.starts_with("observer") || package.checksum.is_some();
        assert!(packages.iter().all(is_complete), "packages without a checksum: {packages:?}");
    }
}
