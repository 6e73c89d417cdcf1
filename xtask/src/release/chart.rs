//! The package of the chart, as `helm package` makes it, but with the same bytes each time.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::image::{File, Files, Mode, Source, compress, tar};
use crate::workspace;

/// The folder of the chart, which is also its name.
const CHART: &str = "deploy/chart";
const NAME: &str = "watchtap";

/// The file that names others that are not in the package.
const IGNORED: &str = ".helmignore";

pub(super) fn file_name(source: &Source) -> String {
    format!("{NAME}-{}.tgz", source.version)
}

/// The package of the chart of this workspace.
pub(super) fn package(source: &Source) -> anyhow::Result<Vec<u8>> {
    let folder = workspace::root().join(CHART);
    let paths = tracked(&folder)?;
    of_files(&folder, &paths, source)
}

/// The files below `folder` that git tracks. Without git, they are those that are there.
fn tracked(folder: &Path) -> anyhow::Result<Vec<String>> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(folder).output();
    let Some(listed) = listed.ok().filter(|listed| listed.status.success()) else {
        let mut paths = Vec::new();
        collect(folder, "", &mut paths)?;
        return Ok(paths);
    };
    let paths = String::from_utf8(listed.stdout).context("a name in the chart is not UTF-8")?;
    Ok(paths.split_terminator('\0').map(str::to_owned).collect())
}

fn collect(folder: &Path, above: &str, paths: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().into_string().ok().context("a name in the chart is not UTF-8")?;
        let path = format!("{above}{name}");
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

/// These files of `folder`, in a folder with the name of the chart.
fn of_files(folder: &Path, paths: &[String], source: &Source) -> anyhow::Result<Vec<u8>> {
    let description = folder.join("Chart.yaml");
    let text = fs::read_to_string(&description).with_context(|| format!("cannot read {}", description.display()))?;
    for key in ["version", "appVersion"] {
        let value = value(&text, key).unwrap_or_default();
        ensure!(value == source.version, "{CHART}/Chart.yaml has {key} {value:?}, and the release is {}", source.version);
    }
    let ignored = ignored(folder)?;
    let mut files = Files::new();
    for path in paths.iter().filter(|path| !is_left_out(path, &ignored)) {
        let content = fs::read(folder.join(path)).with_context(|| format!("cannot read {CHART}/{path}"))?;
        files.insert(format!("{NAME}/{path}"), File { mode: Mode::Readable, content });
    }
    Ok(compress(&tar(&files, source.time)?))
}

/// The value of a key at the top of a YAML document.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    Some(line.trim().trim_matches(['"', '\'']))
}

/// The lines of the file, as names or as paths in the chart. In a name, `*` stands for any characters; other patterns are an error.
fn ignored(folder: &Path) -> anyhow::Result<BTreeSet<String>> {
    let path = folder.join(IGNORED);
    let text = if path.exists() { fs::read_to_string(&path)? } else { String::new() };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let name = line.trim_start_matches('/').trim_end_matches('/');
            let is_known = !name.contains(['?', '[', '!']) && name.matches('*').count() <= 1;
            ensure!(is_known, "{CHART}/{IGNORED}: {line} is a pattern that is not known here");
            Ok(name.to_owned())
        })
        .collect()
}

fn is_ignored(name: &str, path: &str, ignored: &BTreeSet<String>) -> bool {
    ignored.iter().any(|line| match line.split_once('*') {
        None => line == name || line == path,
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
    })
}

/// Whether the file, or a folder that it is in, is ignored.
fn is_left_out(path: &str, ignored: &BTreeSet<String>) -> bool {
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    let mut prefixes = ends.map(|end| &path[..end]);
    prefixes.any(|prefix| is_ignored(prefix.rsplit('/').next().unwrap_or(prefix), prefix, ignored))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Scratch;

    fn source(version: &str) -> Source {
        Source { version: version.to_owned(), revision: None, repository: None, time: 7 }
    }

    fn of_folder(folder: &Path, source: &Source) -> anyhow::Result<Vec<u8>> {
        let mut paths = Vec::new();
        collect(folder, "", &mut paths)?;
        of_files(folder, &paths, source)
    }

    fn chart(scratch: &Scratch) -> &Path {
        let folder = scratch.path();
        fs::create_dir_all(folder.join("templates")).unwrap();
        fs::create_dir_all(folder.join("drafts")).unwrap();
        fs::create_dir_all(folder.join("templates/deep/tests")).unwrap();
        for (path, text) in [
            ("Chart.yaml", "name: watchtap\nversion: 1.2.3\nappVersion: \"1.2.3\"\n"),
            ("templates/a.yaml", "a"),
            ("drafts/b", "b"),
            ("templates/a.yaml~", "a"),
            ("templates/deep/tests/b", "b"),
            (".helmignore", "# names\n/drafts/\n*~\n*.tgz\ntemplates/deep/tests/\n"),
        ] {
            fs::write(folder.join(path), text).unwrap();
        }
        folder
    }

    #[test]
    fn package_has_the_files_in_a_folder_of_its_name() {
        let scratch = Scratch::new("release-chart");
        let package = of_folder(chart(&scratch), &source("1.2.3")).unwrap();
        assert_eq!(
            super::super::tests::listed(&package),
            ["watchtap/.helmignore", "watchtap/Chart.yaml", "watchtap/templates/a.yaml"]
        );
        assert_eq!(package, of_folder(chart(&scratch), &source("1.2.3")).unwrap());
    }

    /// An editor leaves `x.yaml.orig` behind, and Helm would render it.
    #[test]
    fn files_that_git_does_not_track_are_left_out() {
        let scratch = Scratch::new("release-chart-tracked");
        let folder = chart(&scratch);
        let git = |arguments: &[&str]| assert!(Command::new("git").args(arguments).current_dir(folder).status().unwrap().success());
        git(&["init", "--quiet"]);
        git(&["add", "Chart.yaml", "templates/a.yaml", "drafts"]);
        fs::write(folder.join("templates/x.yaml.orig"), "x").unwrap();
        let paths = tracked(folder).unwrap();
        assert_eq!(paths, ["Chart.yaml", "drafts/b", "templates/a.yaml"]);
        let package = of_files(folder, &paths, &source("1.2.3")).unwrap();
        assert_eq!(super::super::tests::listed(&package), ["watchtap/Chart.yaml", "watchtap/templates/a.yaml"]);
    }

    #[test]
    fn chart_of_another_version_is_an_error() {
        let scratch = Scratch::new("release-chart-version");
        let error = of_folder(chart(&scratch), &source("1.2.4")).unwrap_err().to_string();
        assert_eq!(error, "deploy/chart/Chart.yaml has version \"1.2.3\", and the release is 1.2.4");
    }

    #[test]
    fn unknown_pattern_is_an_error() {
        let scratch = Scratch::new("release-chart-pattern");
        let folder = chart(&scratch);
        fs::write(folder.join(".helmignore"), "!a[bc].yaml\n").unwrap();
        assert!(of_folder(folder, &source("1.2.3")).unwrap_err().to_string().contains("!a[bc].yaml is a pattern"));
    }
}
