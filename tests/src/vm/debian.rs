//! Packages of any release of Debian, downloaded by apt and not installed.
//!
//! Each suite has an apt configuration of its own for each architecture. So the sources, the lists and the packages of this machine stay as
//! they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::architecture::Architecture;
use crate::bounded::output_within;
use crate::programs;

/// Time limit of one call of apt or dpkg. A download of 60 MB takes seconds.
const LIMIT: Duration = Duration::from_mins(5);
/// The keys of all releases (Debian's package `debian-archive-keyring`).
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
const PURPOSE: &str = "to download kernels of Debian";

/// A part of Debian's archive, as `/etc/apt/sources.list` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suite {
    /// A release, or its backports.
    Main(&'static str),
    /// The security updates of a release, which have an archive of their own.
    Security(&'static str),
}

impl Suite {
    const fn name(self) -> &'static str {
        match self {
            Self::Main(name) | Self::Security(name) => name,
        }
    }

    /// The archive where this machine's apt has releases of Debian, so that a mirror is used here, too.
    fn archive(self) -> Result<String> {
        let is_of_debian =
            |release: &str| ["bullseye", "bookworm", "trixie", "stable"].iter().any(|name| release.starts_with(name));
        let mut targets = Command::new(programs::require("apt-get", PURPOSE)?);
        targets.args(["indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"]);
        let targets = output(&mut targets)?;
        let mut archives = targets.lines().filter_map(|line| line.split_once(' ')).filter(|(_, release)| is_of_debian(release));
        let is_security = matches!(self, Self::Security(_));
        let found =
            archives.find(|(_, release)| release.ends_with("-security") == is_security).map(|(archive, _)| archive.to_owned());
        Ok(found.unwrap_or_else(|| {
            let path = if is_security { "debian-security" } else { "debian" };
            format!("http://deb.debian.org/{path}")
        }))
    }
}

/// An apt of one suite for one architecture.
#[derive(Debug)]
pub(super) struct Apt {
    configuration: PathBuf,
}

impl Apt {
    /// Reads the lists of the suite into the folder `all`.
    pub(super) fn of(suite: Suite, architecture: Architecture, all: &Path) -> Result<Self> {
        ensure!(Path::new(KEYS).exists(), "no {KEYS}; install debian-archive-keyring");
        let (suite_name, architecture) = (suite.name(), architecture.name());
        let folder = all.join(format!("{suite_name}-{architecture}"));
        for name in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(folder.join(name)).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let (place, sources) = (folder.display(), folder.join("sources.list"));
        fs::write(folder.join("status"), "")?;
        fs::write(&sources, format!("deb [arch={architecture} signed-by={KEYS}] {} {suite_name} main\n", suite.archive()?))?;
        let configuration = folder.join("apt.conf");
        fs::write(
            &configuration,
            format!(
                "Dir::State \"{place}\"; Dir::State::status \"{place}/status\"; Dir::State::Lists \"{place}/lists\";\n\
                 Dir::Cache \"{place}/cache\"; Dir::Etc::SourceList \"{}\"; Dir::Etc::SourceParts \"/dev/null\";\n\
                 Dir::Etc::PreferencesParts \"/dev/null\"; APT::Architecture \"{architecture}\";\n\
                 APT::Architectures {{ \"{architecture}\"; }}; APT::Install-Recommends \"false\";\n\
                 APT::Sandbox::User \"root\"; Acquire::Languages \"none\"; Acquire::Retries \"3\";\n\
                 Acquire::IndexTargets::deb::DEP-11::DefaultEnabled \"false\";\n",
                sources.display()
            ),
        )?;
        let apt = Self { configuration };
        output(apt.command("apt-get")?.args(["update", "-qq"]))?;
        Ok(apt)
    }

    /// The names of the packages that this one depends on.
    pub(super) fn dependencies(&self, package: &str) -> Result<Vec<String>> {
        let text = output(self.command("apt-cache")?.args(["depends", package]))?;
        Ok(text.lines().filter_map(|line| line.trim().strip_prefix("Depends: ")).map(str::to_owned).collect())
    }

    /// Downloads packages and unpacks them into a folder. No script of theirs runs.
    pub(super) fn unpack(&self, packages: &[String], into: &Path) -> Result<()> {
        self.unpack_by(&["download"], packages, into)
    }

    /// As [`Self::unpack`], with everything that the packages depend on.
    pub(super) fn unpack_with_dependencies(&self, packages: &[&str], into: &Path) -> Result<()> {
        let arguments = ["install", "--yes", "--download-only", "--option", "Dir::Cache::Archives=./"];
        let packages: Vec<String> = packages.iter().map(|&package| package.to_owned()).collect();
        self.unpack_by(&arguments, &packages, into)
    }

    /// These arguments make apt download the packages into its working directory.
    fn unpack_by(&self, arguments: &[&str], packages: &[String], into: &Path) -> Result<()> {
        let debs = tempfile::tempdir_in(into.parent().context("the folder has no parent")?)?;
        output(self.command("apt-get")?.arg("-qq").args(arguments).args(packages).current_dir(&debs))?;
        for file in fs::read_dir(&debs)? {
            let file = file?.path();
            if file.extension().is_some_and(|extension| extension == "deb") {
                output(Command::new(programs::require("dpkg-deb", PURPOSE)?).arg("-x").arg(file).arg(into))?;
            }
        }
        Ok(())
    }

    fn command(&self, program: &str) -> Result<Command> {
        let mut command = Command::new(programs::require(program, PURPOSE)?);
        command.env("APT_CONFIG", &self.configuration);
        Ok(command)
    }
}

/// The standard output of a program that must succeed.
fn output(command: &mut Command) -> Result<String> {
    let output = output_within(command, LIMIT)?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
