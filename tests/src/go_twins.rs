//! Builds one small Go program with each requested Go release and link mode, with and without symbols.

use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{folders, programs};

/// A Go toolchain that the `go` on the PATH can run: its own, or one that it downloads as a module.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GoToolchain(pub &'static str);

/// How a program is linked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GoLink {
    /// Position-independent.
    pub is_pie: bool,
    /// With the C compiler's linker.
    pub is_external: bool,
    /// The instruction set, as in `GOARCH`.
    pub machine: &'static str,
}

impl GoLink {
    /// All link modes for the machine that runs the tests; the default mode is first.
    pub const NATIVE: [Self; 4] = [Self::new(false, false), Self::new(true, false), Self::new(false, true), Self::new(true, true)];

    /// The default link mode, for 64-bit Arm.
    pub const ARM64: Self = Self { is_pie: false, is_external: false, machine: "arm64" };

    const fn new(is_pie: bool, is_external: bool) -> Self {
        Self { is_pie, is_external, machine: "amd64" }
    }
}

impl fmt::Display for GoLink {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = if self.is_pie { "pie" } else { "exe" };
        let linker = if self.is_external { "external" } else { "internal" };
        write!(to, "{}-{mode}-{linker}", self.machine)
    }
}

/// The same program with and without symbols.
#[derive(Clone, Debug)]
pub struct GoTwins {
    /// Linked without flags that drop symbols.
    pub with_symbols: PathBuf,
    /// Linked with `-s -w`.
    pub stripped: PathBuf,
}

impl GoToolchain {
    /// Whether `go` is on the PATH.
    pub fn any() -> bool {
        programs::find("go").is_some()
    }

    /// `None` if the toolchain runs here; otherwise the reason why it is unavailable.
    pub fn missing(self) -> Result<Option<String>> {
        let output = self.go()?.arg("version").output().context("cannot run go")?;
        let expected = format!("go version {} ", self.0);
        let is_it = output.status.success() && String::from_utf8_lossy(&output.stdout).starts_with(&expected);
        Ok((!is_it).then(|| String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }

    /// Links the program both ways unless this machine has the files. The first link takes half a minute per release and mode.
    pub fn twins(self, link: GoLink) -> Result<GoTwins> {
        let source = programs_folder();
        Ok(GoTwins { with_symbols: self.build(&source, link, "")?, stripped: self.build(&source, link, "-s -w")? })
    }

    fn build(self, source: &Path, link: GoLink, dropped: &str) -> Result<PathBuf> {
        let form = if dropped.is_empty() { "symbols" } else { "stripped" };
        let into = folders::cluster_cache().join("go-twins");
        let binary = into.join(format!("{}-{link}-{form}-{:016x}", self.0, hash_of(source)?));
        if binary.exists() {
            return Ok(binary);
        }
        fs::create_dir_all(&into).with_context(|| format!("cannot create {}", into.display()))?;
        let unfinished = into.join(format!("unfinished-{}-{}", std::process::id(), self.0));
        let linker = if link.is_external { "-linkmode=external" } else { "-linkmode=internal" };
        let mode = if link.is_pie { "-buildmode=pie" } else { "-buildmode=exe" };
        let native = if link.machine == GoLink::NATIVE[0].machine { "1" } else { "0" };
        let built = self
            .go()?
            .current_dir(source)
            .envs([("CGO_ENABLED", native), ("GOARCH", link.machine), ("GOWORK", "off"), ("GOFLAGS", "")])
            .args(["build", "-trimpath", mode, "-ldflags", &format!("{linker} {dropped}"), "-o"])
            .args([unfinished.as_path(), Path::new(".")])
            .output()
            .context("cannot run go")?;
        if !built.status.success() {
            bail!("{} could not link {link}:\n{}", self.0, String::from_utf8_lossy(&built.stderr));
        }
        fs::rename(&unfinished, &binary)?;
        Ok(binary)
    }

    fn go(self) -> Result<Command> {
        let mut go = Command::new(programs::require("go", "to link programs for the probes")?);
        go.env("GOTOOLCHAIN", self.0);
        Ok(go)
    }
}

fn programs_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("probes/go")
}

fn hash_of(source: &Path) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    for name in ["main.go", "go.mod"] {
        fs::read(source.join(name)).with_context(|| format!("cannot read {name}"))?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}
