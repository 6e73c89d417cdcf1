//! The files that a virtual machine finds: those of this machine, or packages of Debian for another architecture.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::programs;

/// Where packages have their programs.
const PROGRAMS: &str = "/usr/bin";
const PURPOSE: &str = "to boot other kernels";

/// The root of a virtual machine, below a layer in memory.
#[derive(Clone, Debug)]
pub(super) enum Root {
    /// That of this machine, whose programs run there.
    OfThisMachine,
    /// A folder with unpacked packages.
    OfPackages(PathBuf),
}

impl Root {
    /// The folder on this machine.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::OfThisMachine => Path::new("/"),
            Self::OfPackages(folder) => folder,
        }
    }

    /// The path of a program, as the virtual machine finds it.
    pub(super) fn program(&self, name: &str) -> Result<PathBuf> {
        match self {
            Self::OfThisMachine => programs::require(name, PURPOSE),
            Self::OfPackages(_) => Ok(Path::new(PROGRAMS).join(name)),
        }
    }

    /// The path of a program on this machine.
    pub(super) fn program_here(&self, name: &str) -> Result<PathBuf> {
        let program = self.program(name)?;
        Ok(self.path().join(program.strip_prefix("/").unwrap_or(&program)))
    }

    /// The working directory of commands: that of this process, if it exists there.
    pub(super) fn working_directory(&self) -> Result<PathBuf> {
        match self {
            Self::OfThisMachine => Ok(std::env::current_dir()?),
            Self::OfPackages(_) => Ok(PathBuf::from("/")),
        }
    }

    /// The environment variables that name folders: those of this process, if they exist there.
    pub(super) fn environment(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::OfThisMachine => {
                let kept = ["PATH", "CARGO_TARGET_DIR"].into_iter();
                kept.filter_map(|name| Some((name, std::env::var(name).ok()?))).collect()
            }
            Self::OfPackages(_) => vec![("PATH", PROGRAMS.to_owned())],
        }
    }
}
