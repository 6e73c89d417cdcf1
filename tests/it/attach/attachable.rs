//! A run that can be attached, and `watchtap attach` without a terminal.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use observer_tests::{ClientStream, Listening, RunSession, connect, output_within, watchtap};
use tempfile::TempDir;

use super::super::upstream::{TOKEN, Upstream};

pub(super) const LIMIT: Duration = Duration::from_secs(30);

/// A `watchtap run --quiet` with a socket, before an API server.
pub(super) struct Attachable {
    pub(super) run: RunSession,
    _upstream: Upstream,
    pub(super) folder: TempDir,
}

impl Attachable {
    #[track_caller]
    pub(super) fn start() -> Self {
        Self::start_with(&[])
    }

    #[track_caller]
    pub(super) fn start_with(flags: &[&str]) -> Self {
        let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start());
        let kubeconfig = folder.path().join("kubeconfig");
        fs::write(&kubeconfig, upstream.kubeconfig()).unwrap();
        let socket = folder.path().join("attach.sock");
        let arguments = [&["--quiet", "--attach-socket", socket.to_str().unwrap()], flags].concat();
        let run = RunSession::start(&kubeconfig, &arguments).unwrap();
        Self { run, _upstream: upstream, folder }
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.folder.path().join("attach.sock")
    }

    /// The arguments that attach to it.
    pub(super) fn arguments(&self) -> Vec<String> {
        ["attach", "--socket", self.socket().to_str().unwrap()].map(str::to_owned).to_vec()
    }

    pub(super) fn client(&self) -> ClientStream {
        let Listening { address, authority } = self.run.listening().unwrap();
        connect(address, &authority, &[b"http/1.1"]).unwrap()
    }

    /// Requests a path that the server does not have.
    #[track_caller]
    pub(super) fn get(&self, path: &str) {
        get(&mut self.client(), path);
    }

    /// Runs `watchtap attach` on it, without a terminal.
    #[track_caller]
    pub(super) fn attach(&self, flags: &[&str]) -> Output {
        attach(self.folder.path(), &[&["--socket", self.socket().to_str().unwrap()], flags].concat())
    }
}

/// Runs `watchtap attach` without a terminal, as a user whose temporary files are in `home`.
#[track_caller]
pub(super) fn attach(home: &Path, arguments: &[&str]) -> Output {
    output_within(command(home).arg("attach").args(arguments), LIMIT).unwrap()
}

pub(super) fn command(home: &Path) -> Command {
    let mut command = watchtap().unwrap();
    command.env("HOME", home).env("TMPDIR", home).env_remove("XDG_RUNTIME_DIR").env_remove("KUBECONFIG").current_dir(home);
    command
}

#[track_caller]
pub(super) fn get(stream: &mut ClientStream, path: &str) {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nUser-Agent: a-test/1.0\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    let mut response = [0; 4096];
    let mut read = 0;
    while !response[..read].ends_with(b"}") {
        read += stream.read(&mut response[read..]).unwrap();
    }
}

pub(super) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(super) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
