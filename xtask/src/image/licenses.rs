//! The licence texts of the packages that are linked into the program, which their licences require beside it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::packages::{Id, Packages};
use crate::remapping;

/// Beginnings of the names of files with licences and notices, in lower case.
const NAMES: [&str; 6] = ["licence", "license", "copying", "copyright", "notice", "unlicense"];

/// One document with each text once, below the packages that have it.
pub(super) fn texts(packages: &Packages) -> anyhow::Result<String> {
    let registries = remapping::registry_sources()?;
    let mut owners: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, _) in packages.iter().filter(|(_, package)| package.checksum.is_some()) {
        let folder = unpacked(id, &registries)?;
        for text in texts_in(&folder)? {
            owners.entry(text).or_default().push(format!("{} {}", id.name, id.version));
        }
    }
    Ok(document(&owners))
}

fn unpacked(id: &Id, registries: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let name = format!("{}-{}", id.name, id.version);
    let mut folders = registries.iter().map(|registry| registry.join(&name));
    folders.find(|folder| folder.is_dir()).with_context(|| format!("{name} is not unpacked: cargo fetch does it"))
}

fn texts_in(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if NAMES.iter().any(|beginning| name.starts_with(beginning)) && entry.path().is_file() {
            texts.push(String::from_utf8_lossy(&fs::read(entry.path())?).replace("\r\n", "\n").trim().to_owned());
        }
    }
    Ok(texts)
}

/// The texts in the order of their first packages.
fn document(owners: &BTreeMap<String, Vec<String>>) -> String {
    let mut texts: Vec<(&Vec<String>, &String)> = owners.iter().map(|(text, packages)| (packages, text)).collect();
    texts.sort();
    texts.iter().fold(
        String::from("watchtap contains the packages below, under these licences.\n"),
        |document, (packages, text)| {
            let line = "-".repeat(80);
            document + &format!("\n{line}\n{}\n{line}\n\n{text}\n", packages.join(", "))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_written_once() {
        let owners = BTreeMap::from([
            (String::from("MIT of B"), vec![String::from("b 1.0.0")]),
            (String::from("Apache"), vec![String::from("a 1.0.0"), String::from("c 2.0.0")]),
        ]);
        let document = document(&owners);
        assert_eq!(document.matches("Apache").count(), 1);
        assert!(document.find("a 1.0.0, c 2.0.0").unwrap() < document.find("b 1.0.0").unwrap(), "{document}");
    }
}
