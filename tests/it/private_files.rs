//! Tests of the location of private files, and of files to which a report is never written.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};

use observer_tests::output_within;
use rustix::process::geteuid;

use super::exec_cli::{LIMIT, TestHome, stderr, stdout};

#[test]
fn runtime_directory_open_to_others_is_reported_and_unused() {
    let place = TestHome::with_upstream();
    let runtime = tempfile::tempdir().unwrap();
    for (mode, is_used) in [(0o755, false), (0o700, true)] {
        fs::set_permissions(runtime.path(), Permissions::from_mode(mode)).unwrap();
        let mut command = place.command(&["exec", "--", "sh", "-c", "echo $KUBECONFIG"]);
        let output = output_within(command.env("XDG_RUNTIME_DIR", runtime.path()), LIMIT).unwrap();
        let (kubeconfig, said) = (stdout(&output), stderr(&output));
        assert_eq!(kubeconfig.starts_with(runtime.path().to_str().unwrap()), is_used, "{kubeconfig}");
        assert_eq!(said.contains("XDG_RUNTIME_DIR is not used"), !is_used, "{said}");
        assert_eq!(said.contains("has the mode 0755; it must be 0700"), !is_used, "{said}");
    }
}

/// Only root can run this test, because it gives a file to another user. `private_file` has tests of the same decision for every
/// user.
#[test]
fn output_is_not_written_to_a_file_of_another_user() {
    if !geteuid().is_root() {
        writeln!(std::io::stdout().lock(), "left out: a file of another user needs root").unwrap();
        return;
    }
    let place = TestHome::with_upstream();
    let planted = place.write("planted", "kept");
    chown(&planted, Some(54_321), None).unwrap();
    fs::set_permissions(&planted, Permissions::from_mode(0o666)).unwrap();
    for flag in ["--report", "--events", "--capture", "--write-budget"] {
        let mut command = place.command(&["exec", flag]);
        let output = output_within(command.arg(&planted).args(["--", "echo", "ran"]), LIMIT).unwrap();
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(125), ""), "{flag}");
        let said = stderr(&output);
        assert!(said.contains("belongs to another user (uid 54321)") && said.contains("name a file of your own"), "{said}");
        assert_eq!(fs::read_to_string(&planted).unwrap(), "kept", "{flag}");
    }
}

#[test]
fn report_can_be_written_to_pipes_and_devices() {
    let place = TestHome::with_upstream();
    for (file, is_there) in [("/dev/stdout", true), ("/dev/null", false)] {
        let output = output_within(&mut place.command(&["exec", "--report", file, "--", "true"]), LIMIT).unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stdout(&output).contains("watchtap exec: true"), is_there, "{file}");
    }
}
