//! The names under which kubectl runs watchtap: the plug-in, and its completion.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use observer_tests::{built, output_within};

const ENDS_WITHIN: Duration = Duration::from_mins(1);

#[test]
fn plug_in_names_commands_as_kubectl_runs_them() {
    let place = Plugin::install();
    let help = text(&output_within(place.plugin().args(["status", "--help"]), ENDS_WITHIN).unwrap().stdout);
    assert!(help.contains("Usage: kubectl watchtap status") && help.contains("\n  kubectl watchtap status -n shop"), "{help}");
    let wrong = output_within(place.plugin().arg("statsu"), ENDS_WITHIN).unwrap();
    let stderr = text(&wrong.stderr);
    assert!(wrong.status.code() == Some(2) && stderr.contains("Usage: kubectl watchtap <COMMAND>"), "{stderr}");
    let none = output_within(place.plugin().args(["attach", "4711"]), ENDS_WITHIN).unwrap();
    assert!(text(&none.stderr).contains("`kubectl watchtap attach --list`"), "{}", text(&none.stderr));
}

#[test]
fn completion_ends_with_a_directive() {
    let place = Plugin::install();
    let completed = |words: &[&str]| text(&output_within(place.completion().args(words), ENDS_WITHIN).unwrap().stdout);
    assert_eq!(
        completed(&["status", "--format", ""]),
        "text\tHuman-readable text\njson\tOne JSON object, with a schema name in it\n:4\n"
    );
    assert_eq!(completed(&["exec", "--", ""]), ":0\n");
}

/// watchtap under the names that kubectl looks for.
struct Plugin {
    folder: tempfile::TempDir,
}

impl Plugin {
    fn install() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["kubectl-watchtap", "kubectl_complete-watchtap"] {
            symlink(built("watchtap").unwrap(), folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn plugin(&self) -> Command {
        Command::new(self.path("kubectl-watchtap"))
    }

    fn completion(&self) -> Command {
        Command::new(self.path("kubectl_complete-watchtap"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
