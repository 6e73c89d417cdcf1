//! `--check`: builds the same commit a second time under other circumstances, and compares every byte.
//!
//! The second build is a process of its own in a clone of the repository. Folders, home, settings of cargo, umask, clock, time zone,
//! language and number of jobs differ, and nothing is built yet. Only the C compiler and the packages that cargo has downloaded are
//! shared.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, bail, ensure};

use super::build;
use super::c_compiler::CCompiler;
use super::clock::Clock;
use super::command::materials_beside;
use super::source::Source;
use crate::architecture::Architecture;
use crate::workspace;

/// The parts of cargo's home that the second build shares. It unpacks the packages in its own home.
const SHARED: [&str; 2] = ["registry/cache", "registry/index"];

/// The names that cargo's settings can have in a folder. They apply to all builds below it.
const SETTINGS: [&str; 2] = [".cargo/config.toml", ".cargo/config"];

/// A shell script: another umask and clock for the program in its arguments. If the clock is the true one, the script fails.
const RUN: &str = r#"
umask 077
year=$(date +%Y)
export LD_PRELOAD="$0" WATCHTAP_IMAGE_CLOCK="$0"
other=$(date +%Y)
test "$other" -gt "$year" || { echo "the clock of the second build is the true one: the year is $other" >&2; exit 1; }
echo "== check: clock of the second build: $(date -u +%Y-%m-%d)"
exec "$@"
"#;

/// Returns an error unless the source is a commit without changes, which a clone has.
fn committed(source: &Source) -> anyhow::Result<()> {
    let revision = source.revision.as_ref().context("--check needs git: it builds a clone of this repository")?;
    ensure!(!revision.ends_with("-dirty"), "--check builds a clone of the last commit: commit or stash your changes first");
    Ok(())
}

/// Returns an error if the second build is not possible, or would not differ in everything.
pub(crate) fn possible(source: &Source) -> anyhow::Result<()> {
    committed(source)?;
    ensure!(cfg!(target_os = "linux"), "--check needs Linux: a preloaded library changes the clock of the second build");
    settings_above(&folder()).map_or(Ok(()), |settings| {
        bail!("{} would apply to both builds: choose a CARGO_TARGET_DIR that is not below it", settings.display())
    })
}

/// The folder of the second build.
fn folder() -> PathBuf {
    workspace::target().join("image/second build")
}

/// A file with settings of cargo that apply to builds in `folder`, apart from those of this repository, which the clone has, too.
fn settings_above(folder: &Path) -> Option<PathBuf> {
    let above = folder.ancestors().skip(1).filter(|above| *above != workspace::root());
    let files = above.flat_map(|above| SETTINGS.map(|name| above.join(name)));
    files.into_iter().find(|file| file.exists())
}

/// The settings of cargo for sources of packages: downloaded packages are in a folder with the name of their source.
fn sources_of_packages(settings: &str) -> String {
    let is_kept = |name: &str| {
        let first = name.trim_start_matches(['[', ' ']).split(['.', ']', ' ', '=']).next();
        first.is_some_and(|first| ["source", "registries", "registry"].contains(&first))
    };
    let mut is_in_kept = false;
    let mut is_in_table = false;
    let mut kept = String::new();
    for line in settings.lines() {
        let starts_table = line.starts_with('[');
        is_in_table |= starts_table;
        // Before the first table, each line that is not indented sets a value.
        if starts_table || (!is_in_table && line.starts_with(char::is_alphabetic)) {
            is_in_kept = is_kept(line);
        }
        if is_in_kept {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

/// Builds again, and compares with the image in `output`.
pub(super) fn execute(compiler: &Path, output: &Path, architectures: &[Architecture], name: &str) -> anyhow::Result<ExitCode> {
    let other = Other::new(&folder())?;
    let again = other.folder.join("image.tar");
    let mut arguments = vec!["image".into(), "--output".into(), again.clone().into(), "--name".into(), name.into()];
    arguments.extend(architectures.iter().flat_map(|architecture| ["--architecture".into(), architecture.name().into()]));
    let mut pairs = Vec::new();
    for architecture in architectures {
        pairs.push((build::program_path(*architecture), other.program_path(*architecture)));
        pairs.push((materials_beside(output, *architecture), materials_beside(&again, *architecture)));
    }
    pairs.push((output.to_path_buf(), again));
    other.compare(compiler, &arguments, &pairs)
}

/// Runs a task again under other circumstances, and compares the files that it writes into a folder with those in `first`.
/// `arguments` are those of the task without its output.
pub(crate) fn second_build(compiler: &Path, arguments: &[OsString], first: &Path) -> anyhow::Result<ExitCode> {
    let other = Other::new(&folder())?;
    let again = other.folder.join("files");
    let mut pairs = Vec::new();
    for entry in fs::read_dir(first).with_context(|| format!("cannot read {}", first.display()))? {
        let entry = entry?;
        pairs.push((entry.path(), again.join(entry.file_name())));
    }
    pairs.sort();
    let output = ["--output".into(), again.into()];
    other.compare(compiler, &[arguments, &output].concat(), &pairs)
}

/// The folder of the second build.
struct Other {
    folder: PathBuf,
}

impl Other {
    /// Clones the repository into `folder`, and prepares a home there.
    fn new(folder: &Path) -> anyhow::Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        let other = Self { folder: folder.to_path_buf() };
        let cargo_home = other.cargo_home();
        fs::create_dir_all(cargo_home.join("registry"))?;
        let home = crate::remapping::cargo_home()?;
        for part in SHARED {
            symlink(home.join(part), cargo_home.join(part))?;
        }
        let settings = fs::read_to_string(home.join("config.toml")).unwrap_or_default();
        fs::write(cargo_home.join("config.toml"), sources_of_packages(&settings))?;
        let cloned = Command::new("git")
            .args(["-c", "advice.detachedHead=false", "clone", "--quiet", "--shared"])
            .arg(workspace::root())
            .arg(other.checkout())
            .status();
        ensure!(cloned.context("cannot start git")?.success(), "git cannot clone this repository: see its messages above");
        Ok(other)
    }

    fn checkout(&self) -> PathBuf {
        self.folder.join("a checkout")
    }

    fn target(&self) -> PathBuf {
        self.folder.join("a target")
    }

    fn cargo_home(&self) -> PathBuf {
        self.folder.join("a home/.cargo")
    }

    fn program_path(&self, architecture: Architecture) -> PathBuf {
        self.target().join("image/build").join(architecture.target()).join("release/watchtap")
    }

    /// Runs a task there, and compares these pairs of files.
    fn compare(self, compiler: &Path, arguments: &[OsString], pairs: &[(PathBuf, PathBuf)]) -> anyhow::Result<ExitCode> {
        let begun = Instant::now();
        println!("\n== check: second build, in {}", self.folder.display());
        self.build(compiler, arguments)?;
        for (first, second) in pairs {
            if let Some(difference) = difference(&read(first)?, &read(second)?) {
                println!("== check: not reproducible, {difference}:\n  {}\n  {}", first.display(), second.display());
                return Ok(ExitCode::FAILURE);
            }
        }
        fs::remove_dir_all(&self.folder)?;
        println!("== check: reproducible, {} files are equal, {:.1} s", pairs.len(), begun.elapsed().as_secs_f64());
        Ok(ExitCode::SUCCESS)
    }

    /// Runs a task there, with other settings of everything that must have no effect.
    fn build(&self, compiler: &Path, arguments: &[OsString]) -> anyhow::Result<()> {
        let task = std::env::current_exe()?;
        let mut shell = Command::new("sh");
        let clock = Clock::make(&CCompiler::found_or_installed(compiler)?)?;
        shell.args(["-euc", RUN]).arg(clock.library()).arg(task).args(arguments).current_dir(self.checkout());
        shell.arg("--compiler").arg(compiler);
        let rustup = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
        let rustup = rustup.or_else(|| std::env::home_dir().map(|home| home.join(".rustup"))).context("this user has no home")?;
        shell.env("RUSTUP_HOME", rustup).env("HOME", self.folder.join("a home")).env("CARGO_HOME", self.cargo_home());
        shell.env("CARGO_MANIFEST_DIR", self.checkout().join("xtask")).env("CARGO_TARGET_DIR", self.target());
        // With that clock, the certificate of each registry has expired. All packages are there: the first build needed them.
        shell.env("CARGO_NET_OFFLINE", "true").env("CARGO_BUILD_JOBS", "3").env("TZ", "Pacific/Chatham");
        shell.env("LC_ALL", "C").env("CFLAGS", "-O0");
        let status = shell.status().context("cannot start sh")?;
        ensure!(status.success(), "the second build failed: see its messages above");
        Ok(())
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Where two contents differ first, in words.
fn difference(first: &[u8], second: &[u8]) -> Option<String> {
    if let Some(at) = first.iter().zip(second).position(|(first, second)| first != second) {
        return Some(format!("first at byte {at}"));
    }
    (first.len() != second.len()).then(|| format!("{} and {} bytes", first.len(), second.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::scratch::Scratch;

    #[test]
    fn first_difference_is_found() {
        assert_eq!(difference(b"same", b"same"), None);
        assert_eq!(difference(b"same", b"some").as_deref(), Some("first at byte 1"));
        assert_eq!(difference(b"same", b"same more").as_deref(), Some("4 and 9 bytes"));
    }

    #[test]
    fn second_build_has_only_the_settings_of_registries() {
        let settings = "registries.a.index = \"x\"\nbuild.rustflags = [\n  \"-g\",\n]\n\n[profile.release]\nlto = false\n\
                        [source.crates-io]\nreplace-with = \"mirror\"\n[target.'cfg(unix)']\nlinker = \"mold\"\n\
                        [registry]\ndefault = \"a\"\n[sources]\nx = 1\n";
        let expected = "registries.a.index = \"x\"\n[source.crates-io]\nreplace-with = \"mirror\"\n[registry]\ndefault = \"a\"\n";
        assert_eq!(sources_of_packages(settings), expected);
        assert_eq!(sources_of_packages(""), "");
    }

    #[test]
    fn settings_that_both_builds_would_have_are_found() {
        let scratch = Scratch::new("settings");
        let folder = scratch.path().join("a/b");
        let settings = scratch.path().join("a/.cargo/config.toml");
        assert_eq!(settings_above(&folder), None);
        fs::create_dir_all(settings.parent().unwrap()).unwrap();
        fs::write(&settings, "").unwrap();
        assert_eq!(settings_above(&folder), Some(settings));
    }

    #[test]
    fn only_a_clean_commit_can_be_built_again() {
        let source = |revision: Option<&str>| Source {
            version: String::new(),
            revision: revision.map(str::to_owned),
            repository: None,
            time: 0,
        };
        committed(&source(Some("abc"))).unwrap();
        assert!(committed(&source(Some("abc-dirty"))).unwrap_err().to_string().contains("commit or stash"));
        assert!(committed(&source(None)).is_err());
    }
}
