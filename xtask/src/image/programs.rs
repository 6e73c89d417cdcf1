//! Builds the program for each architecture, with the documents that belong to it.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use super::c_compiler::CCompiler;
use super::layer::{File, Files, Mode};
use super::layout::digest;
use super::packages::{self, System};
use super::source::Source;
use super::{build, licenses, sbom};
use crate::architecture::Architecture;
use crate::workspace;

/// A program, with the licences and the bill of materials of everything that is linked into it.
pub(crate) struct Program {
    pub(crate) architecture: Architecture,
    pub(crate) binary: Vec<u8>,
    pub(crate) licenses: String,
    pub(crate) materials: Vec<u8>,
}

/// Builds for these architectures, or for all that can be built here. `folder` is that of the C compiler.
pub(crate) fn build(named: &[Architecture], folder: &Path, source: &Source) -> anyhow::Result<Vec<Program>> {
    let architectures = possible(named)?;
    let compiler = CCompiler::found_or_installed(folder)?;
    architectures.into_iter().map(|architecture| Program::build(architecture, &compiler, source)).collect()
}

impl Program {
    fn build(architecture: Architecture, compiler: &CCompiler, source: &Source) -> anyhow::Result<Self> {
        build::fetch(architecture)?;
        let (packages, system) = (packages::linked(architecture)?, System::linked(architecture)?);
        // This is before the build, which takes minutes, because it can fail.
        let licenses = licenses::document(&packages, &system, architecture, compiler)?;
        let binary = build::program(architecture, compiler, source)?;
        let materials = sbom::document(&packages, &system, &digest(&binary), architecture, source)?;
        Ok(Self { architecture, binary, licenses, materials })
    }

    /// The program with the licences, as they are passed on together.
    pub(crate) fn files(&self) -> anyhow::Result<Files> {
        let readable = |content: Vec<u8>| File { mode: Mode::Readable, content };
        let license = fs::read(workspace::root().join("LICENSE")).context("cannot read LICENSE")?;
        Ok(Files::from([
            (String::from("LICENSE"), readable(license)),
            (String::from("THIRD-PARTY-LICENSES"), readable(self.licenses.clone().into_bytes())),
            (String::from("watchtap"), File { mode: Mode::Executable, content: self.binary.clone() }),
        ]))
    }
}

/// The architectures to build, in the order of the index. Prints those that cannot be built, and fails if one of them was named.
fn possible(named: &[Architecture]) -> anyhow::Result<Vec<Architecture>> {
    let mut possible = Vec::new();
    for architecture in Architecture::ALL {
        if !named.is_empty() && !named.contains(&architecture) {
            continue;
        }
        match build::prepare(architecture) {
            Ok(()) => possible.push(architecture),
            Err(why) if named.is_empty() => println!("== {}: left out, {why}", architecture.name()),
            Err(why) => anyhow::bail!("{} cannot be built: {why}", architecture.name()),
        }
    }
    ensure!(!possible.is_empty(), "no architecture can be built here");
    Ok(possible)
}
