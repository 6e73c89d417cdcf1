//! Packages that only name their licence: its standard text is printed, with the authors that the package names.

use std::collections::BTreeMap;

use anyhow::Context;
use serde_json::Value;
use xshell::cmd;

use super::super::packages::{EBPF_TARGET, Id};
use crate::architecture::Architecture;
use crate::workspace;

/// The licences whose standard text is known here.
const APACHE: &str = "Apache-2.0";
const MIT: &str = "MIT";

/// The standard text after the line with the holders (spdx.org/licenses/MIT).
const MIT_TEXT: &str = "\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the \"Software\"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so,
subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR
ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH
THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.";

/// The statements in the manifest of a package.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// Name and version.
    id: String,
    /// An SPDX expression, or empty.
    license: String,
    authors: Vec<String>,
    repository: Option<String>,
}

/// Asks cargo for the manifests of these packages.
pub(super) fn of(ids: &[&Id], architecture: Architecture) -> anyhow::Result<Vec<Declared>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let shell = workspace::shell()?;
    let targets = [architecture.target(), EBPF_TARGET].map(|target| ["--filter-platform", target]).concat();
    // The packages of the eBPF programs are optional.
    let form = ["--locked", "--format-version", "1", "--features", "observer-ebpf/programs"];
    let metadata = cmd!(shell, "cargo metadata {form...} {targets...}").quiet().read()?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let declared: BTreeMap<String, Declared> =
        packages.iter().filter_map(Declared::read).map(|one| (one.id.clone(), one)).collect();
    let mut declared = declared;
    let known = ids.iter().map(|id| declared.remove(&id.to_string()).with_context(|| format!("cargo metadata does not list {id}")));
    known.collect()
}

impl Declared {
    fn read(package: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(Self {
            id: format!("{} {}", package["name"].as_str()?, package["version"].as_str()?),
            license: text(&package["license"]).unwrap_or_default(),
            authors: package["authors"].as_array().into_iter().flatten().filter_map(text).collect(),
            repository: text(&package["repository"]),
        })
    }

    /// The text of its licence, and the line for the package above it. `apache` is the text of that licence.
    pub(super) fn text_and_owner(&self, apache: &str) -> anyhow::Result<(String, String)> {
        let Self { id, license, authors, repository } = self;
        let alternatives = license.split(" OR ").flat_map(|alternative| alternative.split('/')).map(str::trim);
        let mut known = alternatives.filter(|alternative| [APACHE, MIT].contains(alternative));
        let chosen = known.next().with_context(|| {
            format!("{id} has no file with its licence, and the text of {license:?} is not in xtask/src/image/licenses/declared.rs")
        })?;
        let holders = if authors.is_empty() { format!("the authors of {id}") } else { authors.join(", ") };
        let text = if chosen == MIT { format!("MIT License\n\nCopyright (c) {holders}\n\n{MIT_TEXT}") } else { apache.to_owned() };
        let repository = repository.as_deref().map(|repository| format!(", from {repository}")).unwrap_or_default();
        Ok((text, format!("{id}, without a file of its licence: {license}, by {holders}{repository}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(license: &str) -> Declared {
        let id = String::from("a 1.0.0");
        Declared {
            id,
            license: license.to_owned(),
            repository: Some(String::from("https://code.example/a")),
            ..Declared::default()
        }
    }

    #[test]
    fn licence_gets_its_standard_text_and_the_holders() {
        let (text, owner) = declared("Apache-2.0").text_and_owner("APACHE").unwrap();
        assert_eq!(text, "APACHE");
        let expected = "a 1.0.0, without a file of its licence: Apache-2.0, by the authors of a 1.0.0, from https://code.example/a";
        assert_eq!(owner, expected);
        let mit = Declared { authors: vec![String::from("A"), String::from("B")], ..declared("BSL-1.0 OR MIT") };
        let (text, _) = mit.text_and_owner("APACHE").unwrap();
        assert!(text.starts_with("MIT License\n\nCopyright (c) A, B\n\nPermission is hereby granted"), "{text}");
    }

    #[test]
    fn unknown_licence_is_an_error_that_names_the_package() {
        for license in ["", "ISC", "MIT AND Zlib", "Apache-2.0 WITH LLVM-exception"] {
            let error = declared(license).text_and_owner("APACHE").unwrap_err().to_string();
            assert!(error.starts_with("a 1.0.0 has no file with its licence"), "{error}");
        }
    }

    #[test]
    fn cargo_knows_the_package_of_this_task() {
        let id = Id { name: String::from("xtask"), version: env!("CARGO_PKG_VERSION").to_owned() };
        let found = of(&[&id], Architecture::Amd64).unwrap();
        assert_eq!((found[0].id.as_str(), found[0].license.as_str()), (id.to_string().as_str(), "Apache-2.0"));
        let missing = Id { version: String::from("0.0.0"), ..id };
        assert_eq!(of(&[&missing], Architecture::Amd64).unwrap_err().to_string(), "cargo metadata does not list xtask 0.0.0");
    }
}
