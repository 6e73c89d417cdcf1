//! Helm 3 and Helm 4, built from their Go modules, with settings of their own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::binaries::required_version;
use crate::bounded::output_within;
use crate::folders;
use crate::go_build::GoProgram;

/// A call that lasts longer counts as hanging.
const LIMIT: Duration = Duration::from_mins(3);

/// A release of Helm's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelmRelease {
    /// Helm 3, which applies objects by merging them itself.
    V3,
    /// Helm 4, which applies objects on the server.
    V4,
}

impl HelmRelease {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::V3, Self::V4];

    const fn number(self) -> u32 {
        match self {
            Self::V3 => 3,
            Self::V4 => 4,
        }
    }
}

/// A Helm without settings, repositories and plugins of the user.
#[derive(Debug)]
pub struct Helm {
    program: PathBuf,
    home: TempDir,
}

impl Helm {
    /// Builds Helm unless this machine has it. It needs Go, and takes two or three minutes.
    pub fn of(release: HelmRelease) -> Result<Self> {
        let folder = folders::go_sources().join("helm");
        let number = release.number();
        let module_file = format!("v{number}.mod");
        let module = format!("helm.sh/helm/v{number}");
        let version = required_version(&folder.join(&module_file), &module)?;
        let kubernetes = required_version(&folder.join(&module_file), "k8s.io/client-go")?;
        let program = GoProgram {
            name: "helm",
            folder: &folder,
            module_file: &module_file,
            version: &version,
            link_flags: &link_flags(&module, &version, &kubernetes),
            first_build_takes: "two or three minutes",
        };
        let program = program.build_package(&format!("{module}/cmd/helm"), &folders::cluster_cache())?;
        Ok(Self { program, home: tempfile::tempdir()? })
    }

    /// The executable, for commands that need other settings.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// A command without any cluster, unless the arguments or the environment name one.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(&self.program);
        let home = self.home.path();
        let folders = ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"].map(|name| (name, home.join(name)));
        command.args(arguments).envs(folders).env("KUBECONFIG", home.join("no-kubeconfig"));
        command
    }

    /// Runs Helm and returns its output; an error has what it wrote.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<String> {
        succeed(&mut self.command(arguments))
    }

    /// Like [`Helm::run`], on a cluster.
    pub fn run_on<S: AsRef<OsStr>>(&self, kubeconfig: &Path, arguments: &[S]) -> Result<String> {
        succeed(self.command(arguments).env("KUBECONFIG", kubeconfig))
    }
}

/// Helm 3 renders for Kubernetes 1.20 unless the linker has another minor (its `Makefile`). client-go 0.37 belongs to 1.37. Helm 4 reads this
/// from its modules.
fn link_flags(module: &str, version: &str, client_go: &str) -> String {
    let minor = client_go.split('.').nth(1).unwrap_or_default();
    let packages = ["pkg/chartutil", "pkg/lint/rules"].map(|package| format!(" -X {module}/{package}.k8sVersionMinor={minor}"));
    format!("-X {module}/internal/version.version={version}{}", packages.concat())
}

fn succeed(command: &mut Command) -> Result<String> {
    let output = output_within(command, LIMIT)?;
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{command:?} failed: {}{}", out.trim(), errors.trim());
    String::from_utf8(output.stdout).context("Helm printed no UTF-8")
}
