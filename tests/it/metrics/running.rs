//! A watchtap that serves metrics.

use std::fs;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use observer_tests::scrape::Scraper;
use observer_tests::{ClientStream, Lines, connect, wait_within, watchtap};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_mins(1);

/// A running command with `--metrics`. Dropping it kills the process.
pub(super) struct Running {
    watchtap: Child,
    said: Lines,
    pub(super) scraper: Scraper,
    folder: TempDir,
}

impl Running {
    /// Starts a command. `@folder` in an argument is its folder.
    pub(super) fn start(kubeconfig: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kubeconfig");
        fs::write(&file, kubeconfig).unwrap();
        let at = folder.path().to_str().unwrap().to_owned();
        let mut command = watchtap().unwrap();
        command.args(arguments.iter().map(|argument| argument.replace("@folder", &at)));
        command.args(["--metrics", "127.0.0.1:0", "--format", "json", "--report"]).arg(folder.path().join("report"));
        command.env("KUBECONFIG", file).env("HOME", &at).env("TMPDIR", &at).env_remove("XDG_RUNTIME_DIR");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut watchtap = command.spawn().unwrap();
        let said = Lines::of(watchtap.stderr.take().unwrap(), LIMIT);
        let scraper = Scraper::announced_in(&line_with(&said, "metrics: ")).unwrap();
        Self { watchtap, said, scraper, folder }
    }

    /// A client that connects through it.
    pub(super) fn client(&self) -> ClientStream {
        let line = self.line_with("export KUBECONFIG=");
        let kubeconfig = line.trim().strip_prefix("export KUBECONFIG=").unwrap();
        let document: Value = serde_json::from_str(&fs::read_to_string(kubeconfig).unwrap()).unwrap();
        let cluster = &document["clusters"][0]["cluster"];
        let address: SocketAddr = cluster["server"].as_str().unwrap().strip_prefix("https://").unwrap().parse().unwrap();
        let authority = BASE64_STANDARD.decode(cluster["certificate-authority-data"].as_str().unwrap()).unwrap();
        connect(address, &String::from_utf8(authority).unwrap(), &[b"http/1.1"]).unwrap()
    }

    /// Waits for a line on stderr that contains this text.
    #[track_caller]
    pub(super) fn line_with(&self, text: &str) -> String {
        line_with(&self.said, text)
    }

    /// A file in its folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Ends it with SIGTERM, and returns the report.
    pub(super) fn finish(mut self) -> (Value, TempDir) {
        kill_process(Pid::from_child(&self.watchtap), Signal::TERM).unwrap();
        assert!(wait_within(&mut self.watchtap, LIMIT).unwrap().success());
        let report = serde_json::from_str(&fs::read_to_string(self.file("report")).unwrap()).unwrap();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        (report, folder)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The kill fails if it has already exited.
        let _outcome = self.watchtap.kill();
        let _status = self.watchtap.wait();
    }
}

/// Sends a GET as `agent`, and reads the answer.
pub(super) fn get(client: &mut ClientStream, agent: &str, path: &str) {
    write!(client, "GET {path} HTTP/1.1\r\nHost: a\r\nUser-Agent: {agent}\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let mut byte = [0];
    let length = loop {
        client.read_exact(&mut byte).unwrap();
        answer.push(byte[0]);
        if answer.ends_with(b"\r\n\r\n") {
            let head = String::from_utf8(answer.clone()).unwrap();
            break head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap().parse::<usize>().unwrap();
        }
    };
    client.read_exact(&mut vec![0; length]).unwrap();
}

#[track_caller]
fn line_with(lines: &Lines, text: &str) -> String {
    loop {
        let line = lines.next_line().unwrap().expect("watchtap ended");
        if line.contains(text) {
            return line;
        }
    }
}

/// The arguments of a replay.
pub(super) fn replay(capture: &Path, speed: &str) -> [String; 4] {
    ["read".to_owned(), capture.to_str().unwrap().to_owned(), "--speed".to_owned(), speed.to_owned()]
}
