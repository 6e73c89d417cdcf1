//! The program in its own root, as in a container with the strictest settings: read-only, no other file, no rights, no variables.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::layout::Layout;
use crate::program::{output, printed};

/// The root of a container.
struct Root {
    folder: TempDir,
}

/// Makes the root read-only in a mount namespace of its own, and runs the program as the user of the image. `proc` is there in every
/// container.
const RUN: &str = r#"
root=$1; shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
chroot=$(command -v chroot)
exec env -i "$chroot" --userspec=59643:59643 "$root" /watchtap "$@"
"#;

impl Root {
    fn unpack() -> Self {
        let layout = Layout::unpack();
        let (_, manifest) = layout.manifests().remove(0);
        let folder = layout.unpack_layer(&manifest);
        fs::create_dir(folder.path().join("proc")).unwrap();
        output("chmod", &["0755".as_ref(), folder.path().as_ref()]);
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--", "sh", "-euc", RUN, "sh"]).arg(self.path()).args(arguments);
        command.output().unwrap()
    }

    /// Runs the program, which must succeed, and returns its standard output.
    #[track_caller]
    fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", printed(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn commands_need_no_file_no_variable_and_no_right() {
    let root = Root::unpack();
    assert_eq!(root.succeed(&["--version"]), format!("watchtap {}\n", env!("CARGO_PKG_VERSION")));
    assert!(root.succeed(&["completions", "bash"]).contains("_watchtap"));
    assert!(root.succeed(&["explain", "/api/v1/pods?limit=500"]).contains("SERVED FROM"));
}

#[test]
fn image_has_no_demo_and_has_the_probe() {
    let root = Root::unpack();
    let help = root.succeed(&["--help"]);
    assert!(help.contains("\n  probe ") && !help.contains("\n  demo "), "{help}");
}

#[test]
fn run_states_what_an_image_from_scratch_lacks() {
    let root = Root::unpack();
    let upstream = ["run", "--upstream", "https://127.0.0.1:1"];
    let without_certificates = root.run(&upstream);
    let message = printed(&without_certificates);
    assert!(message.contains("the system's trust store is empty or unreadable"), "{message}");
    let insecure = [&upstream[..], &["--upstream-insecure"]].concat();
    let message = printed(&root.run(&insecure));
    assert!(message.contains("set TMPDIR to a folder that you can write to"), "{message}");
}
