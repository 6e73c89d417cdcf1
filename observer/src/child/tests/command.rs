//! Tests of commands that run and end, and of commands that cannot be started.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::child::{Child, SpawnError, Streams, exit_code};
use crate::signals::SignalStream;

#[tokio::test]
async fn exit_code_of_the_command_is_returned() {
    for code in [0, 1, 42, 255] {
        assert_eq!(run(&format!("exit {code}")).await, code);
    }
}

#[tokio::test]
async fn death_by_signal_returns_128_plus_its_number() {
    for (signal, code) in [("KILL", 137), ("TERM", 143), ("INT", 130)] {
        assert_eq!(run(&format!("kill -{signal} $$")).await, code);
    }
}

#[tokio::test]
async fn command_does_not_inherit_the_ignored_sigpipe() {
    assert_eq!(run("kill -PIPE $$; exit 3").await, 141);
}

#[tokio::test]
async fn variables_are_added_to_the_inherited_environment() {
    assert_eq!(run("test \"$KUBECONFIG\" = /run/k && test -n \"$PATH\"").await, 0);
}

#[tokio::test]
async fn output_goes_to_a_file_in_its_order_and_stdin_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    let streams = Streams::ToFile(fs::File::create(&path).unwrap());
    assert_eq!(run_with(streams, "echo one; echo two >&2; cat; echo three; exit 3").await, 3);
    assert_eq!(fs::read_to_string(path).unwrap(), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn missing_command_exits_with_127() {
    let error = refused("watchtap-no-such-command");
    assert_eq!(
        (error.exit_code(), error.to_string()),
        (127, "cannot run watchtap-no-such-command: no such command; is it installed, and in PATH?".to_owned())
    );
    assert_eq!(refused("/absent/command").exit_code(), 127);
    assert_eq!(refused("").exit_code(), 127);
}

#[tokio::test]
async fn unexecutable_command_exits_with_126() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("command");
    fs::write(&path, "not a program").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let error = refused(&path);
    assert_eq!(
        (error.exit_code(), error.to_string()),
        (126, format!("cannot run {}: Permission denied (os error 13)", path.display()))
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(refused(&path).exit_code(), 126);
    assert_eq!(refused(folder.path()).exit_code(), 126);
}

async fn run(script: &str) -> u8 {
    run_with(Streams::Inherited, script).await
}

async fn run_with(streams: Streams, script: &str) -> u8 {
    let variables = [(OsString::from("KUBECONFIG"), OsString::from("/run/k"))];
    let (script, signals) = (["-c".into(), script.into()], SignalStream::open().unwrap());
    let child = Child::spawn(OsStr::new("/bin/sh"), &script, &variables, streams, signals).unwrap();
    exit_code(child.wait_forwarding(|| {}).await.unwrap())
}

#[track_caller]
fn refused(command: impl AsRef<OsStr>) -> SpawnError {
    Child::spawn(command.as_ref(), &[], &[], Streams::Inherited, SignalStream::open().unwrap()).err().expect("it cannot be run")
}
