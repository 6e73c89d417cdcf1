//! Builds a Go program once per machine.
//!
//! The file name contains the version and a hash of all build inputs from this repository. So an existing binary is always current,
//! and no binary is rebuilt in place. Parallel test processes wait for the one that builds.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::programs;

/// The inputs of a build and the name of its binary.
#[derive(Debug)]
pub(crate) struct GoProgram<'a> {
    /// Name of the binary, without its version.
    pub(crate) name: &'a str,
    /// Folder with `main.go` and the module files.
    pub(crate) folder: &'a Path,
    /// Module file in `folder`; its `.sum` file is beside it.
    pub(crate) module_file: &'a str,
    /// Version of the program, for the binary's name and for messages.
    pub(crate) version: &'a str,
    /// Link flags in addition to `-s -w`.
    pub(crate) link_flags: &'a str,
    /// Duration of the first build on a machine, for messages.
    pub(crate) first_build_takes: &'a str,
}

/// The package in the folder itself.
const OWN: &str = ".";

impl GoProgram<'_> {
    /// Returns the binary in the folder `into`, and builds it if it is missing.
    pub(crate) fn build(&self, into: &Path) -> Result<PathBuf> {
        self.build_package(OWN, into)
    }

    /// Like [`GoProgram::build`], with the package of another module that is the program. Then the folder has no `main.go`.
    pub(crate) fn build_package(&self, package: &str, into: &Path) -> Result<PathBuf> {
        let binary = into.join(format!("{}-{}-{:016x}", self.name, self.version, self.hash_of_inputs(package)?));
        if binary.exists() {
            return Ok(binary);
        }
        let go = programs::require("go", "to build kube-apiserver and etcd (or set KUBEBUILDER_ASSETS to a folder that has both)")?;
        fs::create_dir_all(into).with_context(|| format!("cannot create {}", into.display()))?;
        let lock = File::create(into.join(format!("{}-{}.lock", self.name, self.version)))?;
        lock.lock().context("cannot lock the build of the servers")?;
        if !binary.exists() {
            self.run_go(&go, package, &binary)?;
        }
        Ok(binary)
    }

    fn run_go(&self, go: &Path, package: &str, binary: &Path) -> Result<()> {
        print(&format!(
            "building {} {} with go: {} the first time, some seconds when only linked anew",
            self.name, self.version, self.first_build_takes
        ));
        let started = Instant::now();
        let unfinished = binary.with_extension("unfinished");
        // Other tests run at the same time, and a build of minutes on all processors would disturb them.
        let built = Command::new("nice")
            .arg(go)
            .current_dir(self.folder)
            .envs([("CGO_ENABLED", "0"), ("GOWORK", "off"), ("GOFLAGS", "")])
            .args(["build", "-trimpath", "-buildvcs=false", "-modfile", self.module_file])
            .args(["-ldflags", &self.all_link_flags()])
            .arg("-o")
            .arg(&unfinished)
            .arg(package)
            .output()
            .with_context(|| format!("cannot run {}", go.display()))?;
        if !built.status.success() {
            bail!("go could not build {} {}:\n{}", self.name, self.version, String::from_utf8_lossy(&built.stderr));
        }
        fs::rename(&unfinished, binary)?;
        print(&format!("built {} in {} s", binary.display(), started.elapsed().as_secs()));
        Ok(())
    }

    fn all_link_flags(&self) -> String {
        format!("-s -w {}", self.link_flags)
    }

    /// `DefaultHasher::new` is not seeded. If a later std hashes differently, each binary is linked once more.
    fn hash_of_inputs(&self, package: &str) -> Result<u64> {
        let mut hasher = DefaultHasher::new();
        let sums = Path::new(self.module_file).with_extension("sum");
        let own = (package == OWN).then_some(Path::new("main.go"));
        for input in own.into_iter().chain([Path::new(self.module_file), &sums]) {
            let path = self.folder.join(input);
            fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?.hash(&mut hasher);
        }
        self.all_link_flags().hash(&mut hasher);
        Ok(hasher.finish())
    }
}

/// Bypasses the test runner's capture, because a build can take minutes.
fn print(message: &str) {
    writeln!(io::stderr(), "observer-tests: {message}").ok();
}
