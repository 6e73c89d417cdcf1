//! The image that tests use.

use std::path::PathBuf;
use std::process::Command;

use super::build;
use crate::architecture::Architecture;
use crate::workspace;

/// The variable that names the image to tests.
pub(crate) const TESTS_VARIABLE: &str = "WATCHTAP_TESTS_IMAGE";
/// The variable that names the program of the image for arm64 to tests.
pub(crate) const TESTS_PROGRAM_VARIABLE: &str = "WATCHTAP_TESTS_ARM64_PROGRAM";

/// A `cargo xtask image` for this machine, and the path of the archive that it writes. It is a separate process, because the output
/// and the time of a group are those of its processes. Its priority is low, because other groups run beside it. The image's name is
/// `localhost/watchtap:1`: no kubelet tries to pull such a name.
pub(crate) fn for_tests() -> (Command, PathBuf) {
    image_of(Architecture::ALL.into_iter().filter(|architecture| architecture.is_of_this_machine()), "image/test.tar")
}

/// As [`for_tests`], for arm64, with the path of the program in the image.
pub(crate) fn arm64_program_for_tests() -> (Command, PathBuf) {
    let (command, _archive) = image_of([Architecture::Arm64].into_iter(), "image/test-arm64.tar");
    (command, build::program_path(Architecture::Arm64))
}

fn image_of(architectures: impl Iterator<Item = Architecture>, archive: &str) -> (Command, PathBuf) {
    let archive = workspace::target().join(archive);
    let mut command = Command::new("nice");
    // The tests' build may have replaced the file of the running program, so cargo starts it.
    command.current_dir(workspace::root()).arg(workspace::cargo().get_program());
    command.args(["run", "--quiet", "--package", "xtask", "--", "image", "--name", "localhost/watchtap:1", "--output"]);
    command.arg(&archive);
    for architecture in architectures {
        command.args(["--architecture", architecture.name()]);
    }
    (command, archive)
}
