//! Licences and notices in the sources of a package.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::super::packages::Id;
use crate::remapping;

/// Beginnings of the names of files with licences and notices, in lower case.
const NAMES: [&str; 6] = ["licence", "license", "copying", "copyright", "notice", "unlicense"];

/// All texts in a package of the registry. Folders can have their own: of C libraries, and of sources that were copied from others.
pub(super) fn in_package(id: &Id) -> anyhow::Result<Vec<String>> {
    let name = format!("{}-{}", id.name, id.version);
    let registries = remapping::registry_sources()?;
    let mut folders = registries.iter().map(|registry| registry.join(&name));
    let folder = folders.find(|folder| folder.is_dir());
    let mut texts = Vec::new();
    add_texts(&folder.with_context(|| format!("{name} is not unpacked: cargo fetch does it"))?, &mut texts)?;
    Ok(texts)
}

fn add_texts(folder: &Path, texts: &mut Vec<String>) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<PathBuf>>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        // Hidden folders hold settings of the project's own tools.
        if path.is_dir() && !name.starts_with('.') {
            add_texts(&path, texts)?;
        } else if path.is_file() && NAMES.iter().any(|beginning| name.starts_with(beginning)) {
            let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            texts.push(String::from_utf8_lossy(&text).replace("\r\n", "\n").trim().to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::scratch::Scratch;

    #[test]
    fn texts_of_copied_sources_are_found() {
        let scratch = Scratch::new("licences");
        let files = ["LICENSE-MIT", "c_src/library/v2/LICENSE", "src/spin/COPYING", ".github/license.yml", "src/lib.rs"];
        for file in files {
            let path = scratch.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{file}\r\n")).unwrap();
        }
        let mut texts = Vec::new();
        add_texts(scratch.path(), &mut texts).unwrap();
        assert_eq!(texts, ["LICENSE-MIT", "c_src/library/v2/LICENSE", "src/spin/COPYING"]);
    }
}
