//! A release of a stand-in for watchtap: its files agree with each other, and `install.sh` installs it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::checksums::{SUMS, sum};
use super::command::write;
use super::contents::{Contents, Release};
use crate::architecture::Architecture;
use crate::image::{File, Files, Mode, Program, Scratch, Source};

const BASE_URL: &str = "https://releases.example/vVERSION/watchtap-VERSION";
const HOMEPAGE: &str = "https://watchtap.example";

/// The version of the chart, which the release has to have.
fn source() -> Source {
    let chart = fs::read_to_string(crate::workspace::root().join("deploy/chart/Chart.yaml")).unwrap();
    let version = chart.lines().find_map(|line| line.strip_prefix("version: ")).unwrap().to_owned();
    Source { version, revision: None, repository: None, time: 1_700_000_000 }
}

/// Programs that print their version, and documents.
fn parts() -> (Vec<Program>, Files) {
    parts_with(&format!("echo 'watchtap {}'", source().version))
}

/// Programs that are this shell script, and documents.
fn parts_with(script: &str) -> (Vec<Program>, Files) {
    let program = format!("#!/bin/sh\n{script}\n");
    let program = |architecture| Program {
        architecture,
        binary: program.clone().into_bytes(),
        licenses: "licences".to_owned(),
        materials: b"{}".to_vec(),
    };
    let names = [
        "man/man1/watchtap.1",
        "man/man1/watchtap-run.1",
        "completions/watchtap",
        "completions/watchtap.fish",
        "completions/_watchtap",
    ];
    let documents = names.map(|name| (name.to_owned(), File { mode: Mode::Readable, content: name.as_bytes().to_vec() }));
    (Architecture::ALL.map(program).into(), Files::from(documents))
}

fn contents() -> Contents {
    let (programs, documents) = parts();
    Release { source: &source(), base_url: BASE_URL, homepage: HOMEPAGE, programs: &programs, documents: &documents }
        .contents()
        .unwrap()
}

/// Writes the release into a folder.
fn release(scratch: &Scratch) -> PathBuf {
    release_of(scratch, parts())
}

fn release_of(scratch: &Scratch, (programs, documents): (Vec<Program>, Files)) -> PathBuf {
    let source = source();
    let release = Release { source: &source, base_url: BASE_URL, homepage: HOMEPAGE, programs: &programs, documents: &documents };
    let folder = scratch.path().join("release");
    write(&release.contents().unwrap(), &release, &folder).unwrap();
    folder
}

/// The paths in an archive, in their order.
pub(super) fn listed(archive: &[u8]) -> Vec<String> {
    let tar = miniz_oxide::inflate::decompress_to_vec(&archive[10..archive.len() - 8]).unwrap();
    let mut archive = tar::Archive::new(&*tar);
    archive.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().display().to_string()).collect()
}

#[test]
fn two_releases_are_equal_byte_by_byte() {
    let scratches = [Scratch::new("release-one"), Scratch::new("release-two")];
    let [one, other] = [0, 1].map(|number| release(&scratches[number]));
    let names = |folder: &Path| -> BTreeSet<_> { fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect() };
    assert_eq!(names(&one), names(&other));
    for name in names(&one) {
        assert!(fs::read(one.join(&name)).unwrap() == fs::read(other.join(&name)).unwrap(), "{}", name.display());
    }
}

#[test]
fn checksums_are_those_of_all_files() {
    let scratch = Scratch::new("release-sums");
    let folder = release(&scratch);
    let checked = Command::new("sha256sum").args(["--check", "--strict", SUMS]).current_dir(&folder).output().unwrap();
    assert!(checked.status.success(), "{}", text(&checked));
    let lines = fs::read_to_string(folder.join(SUMS)).unwrap().lines().count();
    assert_eq!(lines + 1, fs::read_dir(&folder).unwrap().count());
    // Two archives, two bills of materials, the image, the chart, the manifest for krew, and the script.
    assert_eq!(lines, 8);
}

/// krew downloads `uri`, compares its hash, and moves `files`, with the program `bin` among them.
#[test]
fn krew_manifest_agrees_with_the_archives() {
    let contents = contents();
    let manifest = String::from_utf8(contents["watchtap.yaml"].clone()).unwrap();
    let version = source().version;
    assert!(!manifest.contains('@') && !manifest.contains('#'), "{manifest}");
    assert!(manifest.contains(&format!("\n  version: v{version}\n")), "{manifest}");
    let values = |key: &str| -> Vec<&str> {
        manifest.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix(key)?.strip_prefix(": ")).collect()
    };
    assert_eq!(values("homepage"), [HOMEPAGE]);
    let base = BASE_URL.replace("VERSION", &version);
    let archives: Vec<&str> = contents.keys().map(String::as_str).filter(|name| name.ends_with(".tar.gz")).collect();
    assert_eq!(values("arch"), ["amd64", "arm64"]);
    for (number, uri) in values("uri").iter().enumerate() {
        let name = uri.strip_prefix(&format!("{base}/")).unwrap();
        assert!(archives.contains(&name), "{uri}");
        assert_eq!(values("sha256")[number], sum(&contents[name]), "{name}");
        let files = listed(&contents[name]);
        let moved = values("from");
        let moved = moved.get(number * 3..number * 3 + 3).unwrap();
        assert!(moved.iter().all(|file| files.iter().any(|path| path == file)), "{moved:?} in {files:?}");
        let program = format!("{}/{}", name.trim_end_matches(".tar.gz"), values("bin")[number]);
        assert!(moved.contains(&&*program), "{program}");
    }
    assert_eq!(values("uri").len(), archives.len());
    // The limit of the index of krew.
    assert!(values("shortDescription")[0].len() <= 50);
}

/// cargo-binstall finds the archive by this address, and the program in it by this path.
#[test]
fn binstall_finds_the_program_in_the_archive() {
    let manifest = fs::read_to_string(crate::workspace::root().join("observer/Cargo.toml")).unwrap();
    let (_, table) = manifest.split_once("[package.metadata.binstall]\n").unwrap();
    let value = |key: &str| {
        let line = table.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")).unwrap();
        line.trim_end_matches('"').to_owned()
    };
    let target = Architecture::Arm64.target();
    let filled = |template: String| {
        let template = template.replace("{ version }", &source().version).replace("{ target }", target);
        template.replace("{ bin }", "watchtap").replace("{ binary-ext }", "")
    };
    let url = filled(value("pkg-url"));
    let (_, name) = url.rsplit_once('/').unwrap();
    assert!(listed(&contents()[name]).contains(&filled(value("bin-dir"))), "{name}");
    assert_eq!(value("pkg-fmt"), "tgz");
}

/// `install.sh` of the release, run by `shell` for a user whose home is in `scratch`.
fn install(shell: &str, scratch: &Scratch, folder: &Path, arguments: &[&str]) -> Output {
    let home = scratch.path().join("home");
    fs::create_dir_all(&home).unwrap();
    let mut command = Command::new(shell);
    command.arg(folder.join("install.sh")).args(arguments).env("HOME", home).env("SHELL", "/bin/bash").env_remove("LC_ALL");
    command.current_dir(scratch.path()).output().unwrap()
}

fn from<'a>(folder: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&["--from", folder.to_str().unwrap()], more].concat()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn runs(program: &Path) -> String {
    let output = Command::new(program).arg("--version").output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn script_installs_from_a_folder_in_each_shell() {
    let scratch = Scratch::new("install-shells");
    let folder = release(&scratch);
    let version = source().version;
    for shell in ["sh", "bash"] {
        let own = scratch.path().join(shell);
        let output = install(shell, &scratch, &folder, &from(&folder, &["--dir", own.to_str().unwrap()]));
        assert!(output.status.success(), "{shell}: {}", text(&output));
        assert_eq!(runs(&own.join("watchtap")), format!("watchtap {version}"));
        assert_eq!(fs::read_dir(&own).unwrap().count(), 1, "something else is left");
        assert!(text(&output).contains("is not in PATH") && text(&output).contains("export PATH='"), "{}", text(&output));
    }
}

#[test]
fn default_folder_is_in_the_home_and_an_older_program_is_named() {
    let scratch = Scratch::new("install-default");
    let folder = release(&scratch);
    let program = scratch.path().join("home/.local/bin/watchtap");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, "#!/bin/sh\necho watchtap 0.0.9\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let output = install("sh", &scratch, &folder, &from(&folder, &["--version", &format!("v{}", source().version)]));
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("(watchtap 0.0.9)"), "{}", text(&output));
    assert_eq!(runs(&program), format!("watchtap {}", source().version));
}

#[test]
fn wrong_sum_is_refused_and_nothing_is_installed() {
    let scratch = Scratch::new("install-sum");
    let folder = release(&scratch);
    for name in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        if name.to_string_lossy().ends_with(".tar.gz") {
            let mut content = fs::read(&name).unwrap();
            content.push(0);
            fs::write(&name, content).unwrap();
        }
    }
    let output = install("sh", &scratch, &folder, &from(&folder, &[]));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("SHA256SUMS says") && text(&output).contains("nothing is installed"), "{}", text(&output));
    assert!(!scratch.path().join("home/.local").exists());
}

#[test]
fn share_and_plug_in_are_installed_on_request() {
    let scratch = Scratch::new("install-share");
    let folder = release(&scratch);
    let (share, own) = (scratch.path().join("share"), scratch.path().join("bin"));
    let more = ["--dir", "bin", "--share", share.to_str().unwrap(), "--kubectl-plugin"];
    let output = install("sh", &scratch, &folder, &from(&folder, &more));
    assert!(output.status.success(), "{}", text(&output));
    for path in
        ["man/man1/watchtap-run.1", "bash-completion/completions/watchtap", "zsh/site-functions/_watchtap", "doc/watchtap/LICENSE"]
    {
        assert!(share.join(path).is_file() && text(&output).contains(path), "{path}");
    }
    for name in ["kubectl-watchtap", "kubectl_complete-watchtap"] {
        assert_eq!(runs(&own.join(name)), format!("watchtap {}", source().version), "{name}");
    }
    let fpath = format!("fpath=('{}/zsh/site-functions' $fpath)", share.display());
    assert!(text(&output).contains(&fpath), "{}", text(&output));
    // A second time, it replaces its own links.
    assert!(install("sh", &scratch, &folder, &from(&folder, &more)).status.success());
}

#[test]
fn files_of_others_are_kept() {
    let scratch = Scratch::new("install-kept");
    let folder = release(&scratch);
    let own = scratch.path().join("home/.local/bin");
    fs::create_dir_all(&own).unwrap();
    symlink("/bin/sh", own.join("watchtap")).unwrap();
    let output = install("sh", &scratch, &folder, &from(&folder, &[]));
    assert!(output.status.code() == Some(1) && text(&output).contains("is not a file that this script made"), "{}", text(&output));
    fs::remove_file(own.join("watchtap")).unwrap();
    fs::write(own.join("kubectl-watchtap"), "mine").unwrap();
    let output = install("sh", &scratch, &folder, &from(&folder, &["--kubectl-plugin"]));
    assert!(output.status.code() == Some(1) && text(&output).contains("is not a link"), "{}", text(&output));
    assert_eq!(fs::read_to_string(own.join("kubectl-watchtap")).unwrap(), "mine");
    assert!(!own.join("watchtap").exists(), "half an installation");
    // A link of krew, or to a folder.
    for target in ["../store/kubectl-watchtap", "."] {
        fs::remove_file(own.join("kubectl-watchtap")).unwrap();
        symlink(target, own.join("kubectl-watchtap")).unwrap();
        let output = install("sh", &scratch, &folder, &from(&folder, &["--kubectl-plugin"]));
        assert!(output.status.code() == Some(1) && text(&output).contains("is a link to something else"), "{}", text(&output));
        assert_eq!(fs::read_link(own.join("kubectl-watchtap")).unwrap(), Path::new(target));
    }
}

#[test]
fn wrong_arguments_and_places_state_what_to_do() {
    let scratch = Scratch::new("install-arguments");
    let folder = release(&scratch);
    fs::create_dir(scratch.path().join("VERSIONS")).unwrap();
    let cases: [(&[&str], i32, &str); 12] = [
        (&["--form", "x"], 2, "unknown argument --form"),
        (&["--dir"], 2, "--dir needs a value"),
        (&["--version", "1; rm -rf /"], 2, "is not a version"),
        (&["--from", "http://releases.example"], 1, "does not start with https://"),
        (&["--from", "/nowhere"], 1, "/nowhere is not a folder"),
        (&["--from", "release", "--version", "9.9.9"], 1, "release has no watchtap-9.9.9-"),
        (&["--from", "https://releases.example/vVERSION"], 2, "has VERSION in it: choose one with --version"),
        (&["--from", "https://releases.example/vVERSION", "--version", "VERSION"], 2, "VERSION is not a version"),
        (&["--from", "VERSIONS", "--version", "1.0.0"], 1, "VERSIONS has no SHA256SUMS"),
        (&["--dir="], 2, "--dir needs a value"),
        (&["-h"], 0, "usage: sh install.sh"),
        (&["--help"], 0, "usage: sh install.sh"),
    ];
    for (arguments, code, expected) in cases {
        let output = install("sh", &scratch, &folder, arguments);
        assert!(output.status.code() == Some(code) && text(&output).contains(expected), "{arguments:?}: {}", text(&output));
    }
    // Without a published release, the script of the repository has no address.
    let own = install("sh", &scratch, &crate::workspace::root(), &[]);
    assert!(own.status.code() == Some(2) && text(&own).contains("no release is published yet"), "{}", text(&own));
}

/// The folder may be in PATH in another form, or in none that a line for the shell could have.
#[test]
fn hints_fit_the_folder() {
    let scratch = Scratch::new("install-hints");
    let folder = release(&scratch);
    let path = std::env::var("PATH").unwrap();
    let hint = |dir: &str, path: &str| {
        let mut command = Command::new("sh");
        command.arg(folder.join("install.sh")).args(from(&folder, &[dir])).current_dir(scratch.path());
        let output = command.env("PATH", path).env("HOME", scratch.path()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    let own = scratch.path().join("bin");
    let listed = hint("--dir=bin//", &format!("{path}:{}", own.display()));
    assert!(listed.contains(&format!("  {}/bin/watchtap\n", scratch.path().display())), "{listed}");
    assert!(!listed.contains("is not in PATH"), "{listed}");
    let listed = hint("--dir=bin", &format!("{}/:{path}", own.display()));
    assert!(!listed.contains("is not in PATH"), "{listed}");
    let quote = hint("--dir=it's", &path);
    assert!(quote.contains("/it's is not in PATH. Add it there.\n") && !quote.contains("export"), "{quote}");
}

/// Such as of `sha256sum --binary`.
#[test]
fn list_of_checksums_may_have_asterisks() {
    let scratch = Scratch::new("install-asterisks");
    let folder = release(&scratch);
    let sums = fs::read_to_string(folder.join(SUMS)).unwrap().replace("  ", " *");
    fs::write(folder.join(SUMS), sums).unwrap();
    for version in [&[][..], &["--version", &source().version]] {
        let output = install("sh", &scratch, &folder, &from(&folder, version));
        assert!(output.status.success(), "{}", text(&output));
    }
}

/// The signal comes while the new program is tried.
#[test]
fn a_signal_leaves_nothing_behind() {
    let scratch = Scratch::new("install-signal");
    let folder = release_of(&scratch, parts_with("kill -s $SIGNAL $PPID"));
    let own = scratch.path().join("bin");
    for (signal, number) in [("TERM", 15), ("HUP", 1), ("INT", 2)] {
        // A shell cannot trap a signal that was ignored when it started, such as SIGHUP below nohup.
        if is_ignored(number) {
            continue;
        }
        let mut command = Command::new("sh");
        command.arg(folder.join("install.sh")).args(from(&folder, &["--dir", own.to_str().unwrap()]));
        let output = command.env("SIGNAL", signal).env("TMPDIR", scratch.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(128 + number), "{}", text(&output));
        assert_eq!(fs::read_dir(&own).unwrap().count(), 0, "{signal}");
    }
}

/// Whether this process ignores a signal, and so do its children (proc(5), `SigIgn`).
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// A stand-in for curl copies from the folder, and keeps the address.
#[test]
fn release_names_its_own_address_and_version() {
    let scratch = Scratch::new("install-address");
    let folder = release(&scratch);
    let programs = scratch.path().join("programs");
    fs::create_dir_all(&programs).unwrap();
    let script = [
        "for last; do :; done",
        "echo \"$last\" >>asked",
        "while [ \"$1\" != --output ]; do shift; done",
        "cp \"release/${last##*/}\" \"$2\"",
    ];
    stand_in(&programs.join("curl"), &script.join("\n"));
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.arg(folder.join("install.sh")).current_dir(scratch.path()).env("PATH", path).env("HOME", scratch.path().join("home"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let base = BASE_URL.replace("VERSION", &source().version);
    let asked = fs::read_to_string(scratch.path().join("asked")).unwrap();
    assert!(asked.starts_with(&format!("{base}/SHA256SUMS\n{base}/watchtap-{}-", source().version)), "{asked}");
}

/// The release of a machine without curl. wget would follow a redirect to http, where the checksums could be changed, too.
#[test]
fn only_curl_downloads() {
    let scratch = Scratch::new("install-curl");
    let folder = release(&scratch);
    let programs = scratch.path().join("programs");
    fs::create_dir_all(&programs).unwrap();
    for name in ["uname", "mktemp", "rm"] {
        let found =
            std::env::split_paths(&std::env::var_os("PATH").unwrap()).map(|folder| folder.join(name)).find(|path| path.exists());
        symlink(found.unwrap(), programs.join(name)).unwrap();
    }
    stand_in(&programs.join("wget"), "exit 0");
    let mut command = Command::new("/bin/sh");
    command.arg(folder.join("install.sh")).env("PATH", &programs).env("HOME", scratch.path());
    let output = command.output().unwrap();
    assert!(output.status.code() == Some(1) && text(&output).contains("curl is not there"), "{}", text(&output));
}

/// A program of a shell script.
fn stand_in(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
