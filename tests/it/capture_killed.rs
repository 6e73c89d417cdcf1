//! A capture of a killed watchtap: the written part is readable, and the missing part is reported.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use observer_tests::{Client, RunSession, output_within, watchtap};
use serde_json::Value;
use tempfile::TempDir;

use super::upstream::{TOKEN, Upstream};

const LIMIT: Duration = Duration::from_secs(30);
/// The kill happens when the file has at least this many requests.
const KNOWN: u64 = 50;

#[test]
fn capture_of_a_killed_watchtap_is_readable_to_its_end() {
    let place = Fixture::new();
    let mut session = place.start();
    let client = client_of(&session);
    let answered = AtomicU64::new(0);
    thread::scope(|scope| {
        // Sends requests until watchtap has been killed.
        let asking = scope.spawn(|| {
            while client.raw("GET", "/api/v1/pods?limit=500", &[], b"").is_ok() {
                answered.fetch_add(1, Ordering::SeqCst);
            }
        });
        let began = Instant::now();
        while place.read().requests() < KNOWN {
            assert!(
                began.elapsed() < LIMIT && !asking.is_finished(),
                "{} requests, and not in the file",
                answered.load(Ordering::SeqCst)
            );
        }
        session.kill().unwrap();
    });

    let read = place.read();
    assert_eq!(read.code, Some(3), "{}", read.said);
    assert!(read.said.contains("run.cap: at byte ") && read.said.contains("end mark"), "{}", read.said);
    let answered = answered.load(Ordering::SeqCst);
    // The request that failed for the client may have been answered in part.
    assert!((KNOWN..=answered + 1).contains(&read.requests()), "{} of {answered}", read.requests());
    let missed = &read.report["missed"];
    assert_eq!((&missed["unrecorded"], missed["unrecorded_spans"].as_array().map(Vec::len)), (&1.into(), Some(1)), "{missed:#}");
    let (whole, cut): (Vec<&Value>, Vec<&Value>) =
        read.report["requests"].as_array().unwrap().iter().partition(|request| request["end"] == "complete");
    assert!(whole.iter().all(|request| request["resource"] == "pods" && request["status"] == 404), "{whole:#?}");
    // The client sends requests one by one, so the end of the file cuts at most one.
    assert!(cut.len() <= 1 && cut.iter().all(|request| request["end"] == "not-observed"), "{cut:#?}");
}

/// A folder with a kubeconfig and a capture.
struct Fixture {
    folder: TempDir,
    kubeconfig: PathBuf,
}

/// The result of `watchtap read` on the capture.
struct Read {
    code: Option<i32>,
    report: Value,
    said: String,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        std::fs::write(&kubeconfig, Upstream::start().kubeconfig()).unwrap();
        Self { folder, kubeconfig }
    }

    fn start(&self) -> RunSession {
        RunSession::start(&self.kubeconfig, &["--capture", self.capture().to_str().unwrap()]).unwrap()
    }

    fn capture(&self) -> PathBuf {
        self.folder.path().join("run.cap")
    }

    #[track_caller]
    fn read(&self) -> Read {
        let mut command = watchtap().unwrap();
        command.args(["read", "--format", "json"]).arg(Path::new("run.cap")).current_dir(self.folder.path());
        let output = output_within(&mut command, LIMIT).unwrap();
        // Before the first written block there is no report.
        let report = serde_json::from_slice(&output.stdout).unwrap_or_default();
        Read { code: output.status.code(), report, said: String::from_utf8_lossy(&output.stderr).into_owned() }
    }
}

impl Read {
    fn requests(&self) -> u64 {
        self.report["totals"]["requests"].as_u64().unwrap_or_default()
    }
}

fn client_of(session: &RunSession) -> Client {
    let document = session.document().unwrap();
    let cluster = &document["clusters"][0]["cluster"];
    let authority = BASE64_STANDARD.decode(cluster["certificate-authority-data"].as_str().unwrap()).unwrap();
    Client::of_server(cluster["server"].as_str().unwrap(), std::str::from_utf8(&authority).unwrap(), TOKEN).unwrap()
}
