//! The document with each text once, below the components that have it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, ensure};

use super::super::c_compiler::CCompiler;
use super::super::packages::{self, Packages, System};
use super::{declared, found, html};
use crate::architecture::Architecture;
use crate::workspace;

/// Texts, each with the components that it is for.
type Owners = BTreeMap<String, BTreeSet<String>>;

/// Fails if one of the components has neither a text nor a licence whose text is known.
pub(in crate::image) fn document(
    packages: &Packages,
    system: &System,
    architecture: Architecture,
    compiler: &CCompiler,
) -> anyhow::Result<String> {
    let mut owners = Owners::new();
    let mut add = |text: String, owner: String| {
        owners.entry(text).or_default().insert(owner);
    };
    let license = fs::read_to_string(workspace::root().join("LICENSE")).context("cannot read LICENSE")?;
    let mut without_text = Vec::new();
    for (id, package) in packages {
        if package.checksum.is_none() {
            add(license.trim().to_owned(), format!("{id}, a part of watchtap"));
            continue;
        }
        let texts = found::in_package(id)?;
        if texts.is_empty() {
            without_text.push(id);
        }
        for text in texts {
            add(text, id.to_string());
        }
    }
    for declared in declared::of(&without_text, architecture)? {
        let (text, owner) = declared.text_and_owner(license.trim())?;
        add(text, owner);
    }
    let [rust, musl] = system.components();
    add(of_rust()?, format!("{rust}, with the packages in it"));
    // The same project's texts, in the C compiler's copy of its sources: Rust's release has none.
    let in_rust = format!("libunwind and compiler-rt of LLVM, in {rust}");
    add(compiler.text("lib/libunwind/LICENSE.TXT")?, in_rust);
    add(compiler.text("lib/libc/musl/COPYRIGHT")?, musl.clone());
    let components = packages.keys().map(ToString::to_string).chain([rust, musl]);
    written(&owners, components)
}

/// The licences of the standard library, as the Rust release states them.
fn of_rust() -> anyhow::Result<String> {
    let path = packages::sysroot()?.join("share/doc/rust/COPYRIGHT-library.html");
    let page =
        fs::read_to_string(&path).with_context(|| format!("the Rust release has no licences: cannot read {}", path.display()))?;
    Ok(html::text(&page))
}

/// The texts in the order of their first components. Fails if one of the components has none.
fn written(owners: &Owners, mut components: impl Iterator<Item = String>) -> anyhow::Result<String> {
    let is_owner = |owner: &str, component: &str| owner == component || owner.starts_with(&format!("{component},"));
    let has_text = |component: &str| owners.values().flatten().any(|owner| is_owner(owner, component));
    let missing = components.find(|component| !has_text(component));
    ensure!(missing.is_none(), "{} has no licence text", missing.unwrap_or_default());
    let mut texts: Vec<(&BTreeSet<String>, &String)> = owners.iter().map(|(text, components)| (components, text)).collect();
    texts.sort();
    let line = "-".repeat(80);
    let written = texts.into_iter().map(|(components, text)| {
        let components = components.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        format!("\n{line}\n{components}\n{line}\n\n{text}\n")
    });
    let beginning = String::from("watchtap contains the components below, under these licences.\n");
    Ok(std::iter::once(beginning).chain(written).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners() -> Owners {
        let owners = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Owners::from([
            (String::from("MIT of B"), owners(&["b 1.0.0"])),
            (String::from("Apache"), owners(&["c 2.0.0, without a file of its licence", "a 1.0.0"])),
        ])
    }

    #[test]
    fn equal_texts_are_written_once() {
        let document = written(&owners(), std::iter::empty()).unwrap();
        assert_eq!(document.matches("Apache").count(), 1);
        let of_a_and_c = document.find("\na 1.0.0\nc 2.0.0, without a file of its licence\n").unwrap();
        assert!(of_a_and_c < document.find("\nb 1.0.0\n").unwrap(), "{document}");
    }

    #[test]
    fn component_without_a_text_is_an_error() {
        let components = ["a 1.0.0", "c 2.0.0", "b 1.0"].map(str::to_owned);
        let error = written(&owners(), components.into_iter()).unwrap_err().to_string();
        assert_eq!(error, "b 1.0 has no licence text");
    }
}
