//! One run of `watchtap inject` or `uninject`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use observer_tests::{output_within, watchtap};

/// The image of the sidecar in all tests.
pub(super) const IMAGE: &str = "localhost/watchtap:1";
/// The exit code if an input cannot be read.
pub(super) const UNREADABLE: i32 = 1;
/// The exit code if an object is refused.
pub(super) const REFUSED: i32 = 3;
/// A run that takes longer hangs.
const LIMIT: Duration = Duration::from_mins(1);

/// The result of a run.
#[derive(Debug)]
pub(super) struct Run {
    /// The exit code; `None` if a signal ended it.
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Run {
    /// The lines of the report that name an object.
    pub(super) fn report_of<'r>(&'r self, object: &str) -> Vec<&'r str> {
        let object = object.to_lowercase();
        self.stderr.lines().filter(|line| line.to_lowercase().contains(&object)).collect()
    }
}

/// Injects a manifest that is in a file.
pub(super) fn inject(file: &Path) -> Run {
    run(&["inject", "--image", IMAGE, "--assume-token"], file)
}

/// Gives back the original of a manifest that is in a file.
pub(super) fn uninject(file: &Path) -> Run {
    run(&["uninject"], file)
}

/// A command with a file as its last argument.
pub(super) fn run(arguments: &[&str], file: &Path) -> Run {
    let mut command = watchtap().unwrap();
    let output = output_within(command.args(arguments).arg(file), LIMIT).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the input was UTF-8");
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Injects a text that is put into this folder.
pub(super) fn inject_text(folder: &Path, name: &str, text: &str) -> Run {
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    inject(&file)
}
