//! The command: builds, and writes the folder.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};

use super::checksums::{self, SUMS};
use super::contents::{Contents, Release};
use super::{installer, manual};
use crate::architecture::Architecture;
use crate::image::{self, Source};
use crate::workspace;

/// Make all files of a release in one folder: archives, image, bills of materials, chart, krew manifest, install.sh and checksums.
///
/// The same commit makes the same bytes, with the same release of Rust. Programs are static, for Linux on x86-64 and arm64. docs/release.md
/// has the contents, and what is left to whoever publishes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Address of the folder where these files will be published. VERSION in it stands for the version [default: that of a release at
    /// the repository of the package]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// Page about watchtap, which krew shows to users [default: the repository of the package]
    #[arg(long, value_name = "URL")]
    homepage: Option<String>,

    /// Folder for the files; an older release in it is replaced [default: target/releases/VERSION]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// Architecture of programs and image; repeat it for several [default: all that can be built here]
    #[arg(long = "architecture", value_enum, value_name = "ARCHITECTURE")]
    architectures: Vec<Architecture>,

    /// Folder of the C compiler, installed there if missing (Python 3 with pip, 410 MB) [default: target/image/zig]
    #[arg(long, value_name = "FOLDER")]
    compiler: Option<PathBuf>,

    /// Make the files although tracked files differ from the commit. The image then names the commit with -dirty
    #[arg(long)]
    allow_dirty: bool,

    /// Then make the release of the same commit again, and compare: nothing is built yet there, and folder, home, umask, clock and time
    /// zone differ
    #[arg(long)]
    check: bool,
}

/// Returns a failure if `--check` finds a difference.
pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let source = Source::of_workspace()?;
    let base_url = base_url(args.base_url.as_deref(), &source)?;
    let homepage = homepage(args.homepage.as_deref(), &source)?;
    ensure!(
        args.allow_dirty || !source.revision.as_ref().is_some_and(|revision| revision.ends_with("-dirty")),
        "tracked files differ from the commit: commit or stash the changes, or pass --allow-dirty for a trial"
    );
    if args.check {
        image::second_build_possible(&source)?;
    }
    let own = || workspace::target().join("releases").join(&source.version);
    let folder = std::path::absolute(args.output.clone().unwrap_or_else(own))?;
    let compiler = image::compiler_folder(args.compiler.as_deref())?;
    let documents = manual::documents()?;
    let programs = image::build_programs(&args.architectures, &compiler, &source)?;
    let release = Release { source: &source, base_url: &base_url, homepage: &homepage, programs: &programs, documents: &documents };
    write(&release.contents()?, &release, &folder)?;
    print(&folder)?;
    if !args.check {
        return Ok(ExitCode::SUCCESS);
    }
    let mut arguments: Vec<OsString> = vec!["release".into()];
    arguments.extend(["--base-url".into(), base_url.into(), "--homepage".into(), homepage.into()]);
    arguments.extend(programs.iter().flat_map(|program| ["--architecture".into(), program.architecture.name().into()]));
    image::second_build(&compiler, &arguments, &folder)
}

/// The address of the files, with `VERSION` in it where releases differ.
fn base_url(given: Option<&str>, source: &Source) -> anyhow::Result<String> {
    let of_repository = || source.repository.as_ref().map(|repository| format!("{repository}/releases/download/vVERSION"));
    let url = given.map(str::to_owned).or_else(of_repository).context("no address of the release is known: pass --base-url")?;
    ensure!(is_address(&url), "--base-url {url} is not an address that starts with https://");
    Ok(url.trim_end_matches('/').to_owned())
}

/// The address of the page about watchtap.
fn homepage(given: Option<&str>, source: &Source) -> anyhow::Result<String> {
    let url = given.or(source.repository.as_deref()).context("no page about watchtap is known: pass --homepage")?;
    ensure!(is_address(url), "--homepage {url} is not an address that starts with https://");
    Ok(url.to_owned())
}

/// Whether the text is an address without a character that a shell or YAML could read otherwise.
fn is_address(url: &str) -> bool {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || "-._~:/@%+".contains(character);
    url.starts_with("https://") && url.chars().all(is_allowed)
}

/// Writes the files, and the checksums last: a folder with them is complete.
pub(super) fn write(contents: &Contents, release: &Release<'_>, folder: &Path) -> anyhow::Result<()> {
    empty(folder)?;
    for (name, content) in contents {
        fs::write(folder.join(name), content).with_context(|| format!("cannot write {name}"))?;
    }
    let version = &release.source.version;
    let image = folder.join(format!("watchtap-{version}-image.tar"));
    image::assemble(release.programs, release.source, &format!("localhost/watchtap:{version}"), &image)?;
    fs::write(folder.join(SUMS), checksums::of_folder(folder)?)?;
    Ok(())
}

/// Creates the folder, without the files of an older release. If it has another file, nothing is removed.
fn empty(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let sums = folder.join(SUMS);
    let listed = if sums.is_file() { checksums::names(&fs::read_to_string(&sums)?) } else { BTreeSet::new() };
    let mut older = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_ours = entry.file_type()?.is_file() && name.to_str().is_some_and(|name| name == SUMS || listed.contains(name));
        ensure!(
            is_ours && is_of_a_release(&listed),
            "{} has files of something else, such as {}: choose another --output",
            folder.display(),
            name.display()
        );
        older.push(entry.path());
    }
    for path in older {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Whether a list of checksums is one that this command wrote: other projects have lists of the same name.
fn is_of_a_release(listed: &BTreeSet<String>) -> bool {
    let is_known = |name: &String| name.starts_with("watchtap") || name == installer::FILE_NAME;
    listed.contains(installer::FILE_NAME) && listed.iter().all(is_known)
}

fn print(folder: &Path) -> anyhow::Result<()> {
    println!("\n{}", folder.display());
    let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        println!("  {:>10}  {}", fs::metadata(&path)?.len(), path.file_name().unwrap_or_default().to_string_lossy());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Scratch;

    fn source(repository: Option<&str>) -> Source {
        Source { version: "0.1.0".to_owned(), revision: None, repository: repository.map(str::to_owned), time: 0 }
    }

    #[test]
    fn address_is_that_of_the_flag_or_of_the_repository() {
        let of = |given, repository| base_url(given, &source(repository)).map_err(|error| error.to_string());
        assert_eq!(of(Some("https://a.example/w/vVERSION/"), None).unwrap(), "https://a.example/w/vVERSION");
        assert_eq!(of(None, Some("https://b.example/w")).unwrap(), "https://b.example/w/releases/download/vVERSION");
        assert!(of(None, None).unwrap_err().contains("pass --base-url"));
        for wrong in ["http://a.example", "a.example", "https://a'; rm -rf ~; '", "https://a b"] {
            assert!(of(Some(wrong), None).unwrap_err().contains("starts with https://"), "{wrong}");
        }
    }

    #[test]
    fn homepage_is_that_of_the_flag_or_the_repository() {
        let of = |given, repository| homepage(given, &source(repository)).map_err(|error| error.to_string());
        assert_eq!(of(Some("https://a.example"), Some("https://b.example/w")).unwrap(), "https://a.example");
        assert_eq!(of(None, Some("https://b.example/w")).unwrap(), "https://b.example/w");
        assert!(of(None, None).unwrap_err().contains("pass --homepage"));
        assert!(of(Some("a.example"), None).unwrap_err().contains("starts with https://"));
    }

    #[test]
    fn only_files_of_an_older_release_are_removed() {
        let scratch = Scratch::new("release-kept");
        let folder = scratch.path();
        let count = || fs::read_dir(folder).unwrap().count();
        let refused = || empty(folder).unwrap_err().to_string().contains("has files of something else");
        let sum = "0".repeat(64);
        fs::write(folder.join("watchtap.yaml"), "older").unwrap();
        fs::write(folder.join("install.sh"), "older").unwrap();
        assert!(refused() && count() == 2, "without a list");
        let list = format!("{sum}  install.sh\n{sum}  watchtap.yaml\n");
        fs::write(folder.join(SUMS), format!("{sum}  debian.iso\n{list}")).unwrap();
        assert!(refused() && count() == 3, "by the list of another project");
        fs::write(folder.join(SUMS), list).unwrap();
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        assert!(refused() && count() == 4, "with a file that is not listed");
        fs::remove_file(folder.join("notes.txt")).unwrap();
        empty(folder).unwrap();
        assert_eq!(count(), 0);
        fs::create_dir(folder.join("own")).unwrap();
        assert!(refused() && count() == 1, "with a folder");
    }
}
