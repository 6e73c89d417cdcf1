//! The files of a release, made of programs and documents that are there already. The image is written beside them.

use std::collections::BTreeMap;

use super::{archive, chart, installer, krew};
use crate::image::{Files, Program, Source};

/// Contents of files by name.
pub(super) type Contents = BTreeMap<String, Vec<u8>>;

/// The parts that files are made of.
pub(super) struct Release<'r> {
    pub(super) source: &'r Source,
    /// The address of the files. `VERSION` in it stands for the version.
    pub(super) base_url: &'r str,
    /// The page about watchtap, for users of krew.
    pub(super) homepage: &'r str,
    pub(super) programs: &'r [Program],
    /// Man pages and completions.
    pub(super) documents: &'r Files,
}

impl Release<'_> {
    /// Archives, chart, manifest for krew, and the script that installs.
    pub(super) fn contents(&self) -> anyhow::Result<Contents> {
        let Self { source, base_url, homepage, programs, documents } = self;
        let mut contents = Contents::new();
        let mut archives = Vec::new();
        for program in *programs {
            let archive = archive::of(program, documents, source)?;
            contents.insert(archive.name.clone(), archive.content.clone());
            archives.push(archive);
        }
        contents.insert(chart::file_name(source), chart::package(source)?);
        let address = base_url.replace("VERSION", &source.version);
        let manifest = krew::manifest(&archives, &address, homepage, source)?;
        contents.insert(krew::FILE_NAME.to_owned(), manifest.into_bytes());
        contents.insert(installer::FILE_NAME.to_owned(), installer::script(base_url, source)?.into_bytes());
        Ok(contents)
    }
}
