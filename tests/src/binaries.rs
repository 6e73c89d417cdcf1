//! The servers: found in `KUBEBUILDER_ASSETS`, or built with Go.
//!
//! `KUBEBUILDER_ASSETS` is the convention of controller-runtime's envtest: a folder with `kube-apiserver` and `etcd`. A test of the
//! same minor uses that kube-apiserver; a test of another minor builds its own. `k8s.io/kubernetes` 1.37 is not published, so of
//! 1.37 there is only the API server of custom resources.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::folders;
use crate::go_build::GoProgram;
use crate::programs;

/// A minor version of Kubernetes 1: `Minor(34)` is 1.34.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minor(pub u32);

impl Minor {
    /// The minor for tests that work with any.
    pub const DEFAULT: Self = Self(34);

    /// The kind of API server that is available for this minor.
    pub(crate) const fn server(self) -> ServerKind {
        if self.0 == CUSTOM_RESOURCES_ONLY.0 { ServerKind::Apiextensions } else { ServerKind::KubeApiserver }
    }
}

/// The minor of `tests/cluster/go/apiextensions`.
const CUSTOM_RESOURCES_ONLY: Minor = Minor(37);

/// The program that serves as API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerKind {
    KubeApiserver,
    /// apiextensions-apiserver: serves custom resources only, and identifies its users by their certificates.
    Apiextensions,
}

/// The etcd of an API server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EtcdRelease {
    /// 3.6, whose progress requests are reliable, or the etcd of `KUBEBUILDER_ASSETS`.
    #[default]
    Current,
    /// 3.5.10, whose progress requests are unreliable: API servers from 1.31 on do not use them.
    V3_5_10,
}

impl fmt::Display for Minor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "v1.{}", self.0)
    }
}

/// Executable files of the two servers.
#[derive(Clone, Debug)]
pub struct Binaries {
    /// kube-apiserver, or apiextensions-apiserver for 1.37.
    pub api_server: PathBuf,
    /// The version that it reports, as in `v1.34.4`.
    pub version: String,
    /// The etcd binary.
    pub etcd: PathBuf,
}

impl Binaries {
    /// Finds or builds the servers. A build takes minutes once per machine and prints a message on stderr.
    pub fn of_minor(minor: Minor, etcd: EtcdRelease) -> Result<Self> {
        let assets = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from).filter(|folder| holds_both(folder));
        let etcd = match (etcd, &assets) {
            (EtcdRelease::Current, Some(assets)) => assets.join("etcd"),
            (EtcdRelease::Current, None) => build_etcd("go.mod")?,
            (EtcdRelease::V3_5_10, _) => build_etcd("v3.5.mod")?,
        };
        if let Some(assets) = assets {
            let api_server = assets.join("kube-apiserver");
            let version = reported_version(&api_server)?;
            if version.starts_with(&format!("{minor}.")) {
                return Ok(Self { api_server, version, etcd });
            }
        }
        let (api_server, version) = match minor.server() {
            ServerKind::KubeApiserver => build_kube_apiserver(minor)?,
            ServerKind::Apiextensions => build_apiextensions(minor)?,
        };
        Ok(Self { api_server, version, etcd })
    }
}

fn holds_both(folder: &Path) -> bool {
    ["kube-apiserver", "etcd"].iter().all(|name| programs::is_executable(&folder.join(name)))
}

/// `kube-apiserver --version` prints `Kubernetes v1.34.4`.
fn reported_version(kube_apiserver: &Path) -> Result<String> {
    let output = Command::new(kube_apiserver)
        .arg("--version")
        .output()
        .with_context(|| format!("cannot run {} --version", kube_apiserver.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split_whitespace().last();
    version.map(str::to_owned).with_context(|| format!("{} did not say its version", kube_apiserver.display()))
}

fn build_kube_apiserver(minor: Minor) -> Result<(PathBuf, String)> {
    let folder = folders::go_sources().join("apiserver");
    let module_file = format!("{minor}.mod");
    let version = required_version(&folder.join(&module_file), "k8s.io/kubernetes")
        .with_context(|| format!("no kube-apiserver {minor} here; tests/cluster/go/README.md tells how to add one"))?;
    let binary = GoProgram {
        name: "kube-apiserver",
        folder: &folder,
        module_file: &module_file,
        version: &version,
        link_flags: &version_link_flags(minor, &version),
        first_build_takes: "4 to 10 minutes",
    }
    .build(&folders::cluster_cache())?;
    Ok((binary, version))
}

/// Without these flags the server reports `v0.0.0-master`. client-go's copy goes into the User-Agent of the server's own requests.
pub(crate) fn version_link_flags(minor: Minor, version: &str) -> String {
    ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"]
        .map(|package| {
            format!(
                "-X {package}.gitVersion={version} -X {package}.gitMajor=1 -X {package}.gitMinor={} \
                 -X {package}.gitTreeState=clean -X {package}.gitCommit=unknown",
                minor.0
            )
        })
        .join(" ")
}

/// Modules published as `v0.37.2` belong to Kubernetes 1.37.2.
fn build_apiextensions(minor: Minor) -> Result<(PathBuf, String)> {
    let folder = folders::go_sources().join("apiextensions");
    let required = required_version(&folder.join("go.mod"), "k8s.io/apiextensions-apiserver")?;
    let version = required.strip_prefix("v0.").map(|rest| format!("v1.{rest}")).unwrap_or(required);
    let binary = GoProgram {
        name: "apiextensions-apiserver",
        folder: &folder,
        module_file: "go.mod",
        version: &version,
        link_flags: &version_link_flags(minor, &version),
        first_build_takes: "2 to 5 minutes",
    }
    .build(&folders::cluster_cache())?;
    Ok((binary, version))
}

fn build_etcd(module_file: &str) -> Result<PathBuf> {
    let folder = folders::go_sources().join("etcd");
    let version = required_version(&folder.join(module_file), "go.etcd.io/etcd/server/v3")?;
    GoProgram { name: "etcd", folder: &folder, module_file, version: &version, link_flags: "", first_build_takes: "a minute" }
        .build(&folders::cluster_cache())
}

/// The version of `module` that a module file requires.
pub(crate) fn required_version(module_file: &Path, module: &str) -> Result<String> {
    let text = fs::read_to_string(module_file).with_context(|| format!("cannot read {}", module_file.display()))?;
    let version = required_in(&text, module).map(str::to_owned);
    version.with_context(|| format!("{} does not require {module}", module_file.display()))
}

/// Like [`required_version`], from the text of a module file.
pub(crate) fn required_in<'t>(module_file: &'t str, module: &str) -> Option<&'t str> {
    let requirements = module_file.lines().map(|line| line.trim().trim_start_matches("require "));
    let mut versions = requirements.filter_map(|line| line.strip_prefix(module)?.strip_prefix(' '));
    versions.find(|version| version.starts_with('v'))?.split_whitespace().next()
}
