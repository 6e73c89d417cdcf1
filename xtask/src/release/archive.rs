//! The archive of one target: the program, the licences, man pages and completions, in a folder with the name of the archive.

use crate::architecture::Architecture;
use crate::image::{Files, Program, Source, compress, tar};

/// An archive that is made.
pub(super) struct Archive {
    pub(super) architecture: Architecture,
    /// The name of the file.
    pub(super) name: String,
    /// The name of the folder in it.
    pub(super) folder: String,
    pub(super) content: Vec<u8>,
}

pub(super) fn of(program: &Program, documents: &Files, source: &Source) -> anyhow::Result<Archive> {
    let architecture = program.architecture;
    let folder = format!("watchtap-{}-{}", source.version, architecture.target());
    let files = program.files()?.into_iter().chain(documents.clone());
    let files: Files = files.map(|(path, file)| (format!("{folder}/{path}"), file)).collect();
    let content = compress(&tar(&files, source.time)?);
    Ok(Archive { architecture, name: format!("{folder}.tar.gz"), folder, content })
}
