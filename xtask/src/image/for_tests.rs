//! The image that tests use.

use std::path::PathBuf;
use std::process::Command;

use crate::architecture::Architecture;
use crate::workspace;

/// The variable that names the image to tests.
pub(crate) const TESTS_VARIABLE: &str = "WATCHTAP_TESTS_IMAGE";

/// A `cargo xtask image` for this machine, and the path of the archive that it writes. It is a separate process, because the output
/// and the time of a group are those of its processes. Its priority is low, because other groups run beside it. The image's name is
/// `localhost/watchtap:1`: no kubelet tries to pull such a name.
pub(crate) fn for_tests() -> (Command, PathBuf) {
    let archive = workspace::target().join("image/test.tar");
    let mut command = Command::new("nice");
    // The tests' build may have replaced the file of the running program, so cargo starts it.
    command.current_dir(workspace::root()).arg(workspace::cargo().get_program());
    command.args(["run", "--quiet", "--package", "xtask", "--", "image", "--name", "localhost/watchtap:1", "--output"]);
    command.arg(&archive);
    for architecture in Architecture::ALL.into_iter().filter(|architecture| architecture.is_of_this_machine()) {
        command.args(["--architecture", architecture.name()]);
    }
    (command, archive)
}
