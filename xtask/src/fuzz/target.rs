//! The fuzz targets: their packages, the folders of their inputs, and instructions for a failing input.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::workspace;

/// The packages with the targets for the core and for the shell. Each has a folder `fuzz_targets`.
pub(super) const PACKAGES: [&str; 2] = ["tests/fuzz", "tests/fuzz/shell"];

/// A fuzz target: a file in `fuzz_targets` of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) name: String,
    /// The folder of its package.
    pub(super) package: &'static str,
}

impl Target {
    /// Returns the target with this name, or all targets.
    pub(super) fn chosen(name: Option<&str>) -> anyhow::Result<Vec<Self>> {
        let all = Self::all()?;
        let Some(name) = name else { return Ok(all) };
        let names: Vec<&str> = all.iter().map(|target| target.name.as_str()).collect();
        anyhow::ensure!(names.contains(&name), "there is no target {name:?}; there are {}", names.join(", "));
        Ok(all.into_iter().filter(|target| target.name == name).collect())
    }

    fn all() -> anyhow::Result<Vec<Self>> {
        let mut all = Vec::new();
        for package in PACKAGES {
            let folder = workspace::root().join(package).join("fuzz_targets");
            for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
                let path = entry?.path();
                if let Some(name) = path.file_stem().filter(|_| path.extension().is_some_and(|extension| extension == "rs")) {
                    all.push(Self { name: name.to_string_lossy().into_owned(), package });
                }
            }
        }
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    /// The folder of the committed inputs. This path and the following ones are relative to the workspace.
    pub(super) fn seeds(&self) -> PathBuf {
        Path::new("tests/fuzz/seeds").join(&self.name)
    }

    /// The folder of the inputs that earlier runs kept.
    pub(super) fn corpus(&self) -> PathBuf {
        Path::new("target/fuzz/corpus").join(&self.name)
    }

    /// The folder of the inputs on which the target failed.
    pub(super) fn finds(&self) -> PathBuf {
        Path::new("target/fuzz/finds").join(&self.name)
    }

    /// Instructions for an input on which this target fails.
    pub(super) fn advice(&self, find: &str) -> String {
        let Self { name, package } = self;
        format!(
            "{name} fails by {find}\n\
             Make it smaller (cargo +nightly fuzz tmin --fuzz-dir {package} --target-dir target/fuzz/build {name} {find}), copy it to \
             tests/fuzz/seeds/{name} under a name that says what went wrong, and mend the code until `cargo test -p observer-tests --test \
             seeds` passes: it replays every seed."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_seeds_to_begin_with() {
        let all = Target::all().unwrap();
        assert!(all.len() > 10, "{all:?}");
        for target in all {
            let seeds = workspace::root().join(target.seeds());
            let count = fs::read_dir(&seeds).map_or(0, Iterator::count);
            assert!(count > 0, "{} is empty or missing", seeds.display());
        }
    }

    #[test]
    fn every_target_is_a_binary_of_the_package() {
        for Target { name, package } in Target::all().unwrap() {
            let manifest = fs::read_to_string(workspace::root().join(package).join("Cargo.toml")).unwrap();
            let path = format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"");
            assert!(manifest.contains(&path), "{package}/Cargo.toml lacks a [[bin]] with\n{path}");
        }
    }

    #[test]
    fn unknown_target_error_lists_the_existing_ones() {
        let error = Target::chosen(Some("http3")).unwrap_err().to_string();
        assert!(error.starts_with("there is no target \"http3\"; there are ") && error.contains("http1, http2"), "{error}");
    }

    #[test]
    fn advice_names_the_input_and_where_it_goes() {
        let advice = Target { name: String::from("json"), package: PACKAGES[0] }.advice("target/fuzz/finds/json/crash-1");
        assert!(advice.starts_with("json fails by target/fuzz/finds/json/crash-1\n"), "{advice}");
        assert!(advice.contains("target/fuzz/build json target/fuzz/finds/json/crash-1)"), "{advice}");
        assert!(advice.contains("copy it to tests/fuzz/seeds/json under a name"), "{advice}");
    }
}
