//! Tests of `--capture` and `watchtap read` as a user sees them: traffic through the proxy is captured to a file, and read from it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use flate2::read::DeflateDecoder;
use observer_tests::{ExecSession, Finished, output_within, watchtap};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use serde_json::Value;
use tempfile::TempDir;

use super::upstream::{SECRET_DATA, TOKEN, Upstream};

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn replay_reproduces_the_report_and_events_of_a_run() {
    let place = Fixture::new();
    let finished = place.run(&["/api/v1/pods?limit=500", "/api/v1/namespaces/a/secrets", "/version"]);
    assert_eq!(finished.report["totals"]["requests"], 3);

    let events = place.path("replayed.jsonl");
    let output = place.read(&["--format", "json", "--events", events.to_str().unwrap(), "run.cap"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let replayed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(observed(&replayed), observed(&finished.report));
    assert_eq!(replayed["command"], serde_json::json!(["run.cap"]));
    assert_eq!(lines(&fs::read_to_string(events).unwrap()), finished.events);
}

#[test]
fn capture_contains_no_token_and_no_secret_data() {
    let place = Fixture::new();
    let finished = place.run(&["/api/v1/namespaces/a/secrets"]);
    // The Secret was observed: the client received it, and the report counts it.
    assert_eq!(finished.report["requests"][0]["items"], 1);
    let file = fs::read(place.path("run.cap")).unwrap();
    let recorded = inflated(&file);
    assert!(recorded.contains(r#""name":"c4n4ry-name""#), "the names of objects are recorded: {recorded}");
    for secret in [TOKEN, SECRET_DATA, "Bearer "] {
        assert!(!recorded.contains(secret), "{secret} is in the capture: {recorded}");
        assert!(!file.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret} is in the file");
    }
}

#[test]
fn truncated_capture_is_read_and_the_missing_span_reported() {
    let place = Fixture::new();
    place.run(&["/api/v1/pods?limit=500"]);
    let whole = fs::read(place.path("run.cap")).unwrap();
    fs::write(place.path("torn.cap"), &whole[..whole.len() - 30]).unwrap();
    let output = place.read(&["torn.cap"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("torn.cap: at byte ") && stderr(&output).contains("end mark"), "{}", stderr(&output));
    let report = stdout(&output);
    assert!(report.contains("missing from the capture: ") && report.contains("1 span missing from the capture"), "{report}");
    assert!(report.contains("pods"), "the rest is there: {report}");
}

#[test]
fn unreadable_capture_is_named_with_its_reason() {
    let place = Fixture::new();
    place.run(&["/version"]);
    fs::write(place.path("empty"), "").unwrap();
    fs::write(place.path("events.jsonl"), "{\"schema\":\"watchtap.events/v1\"}\n").unwrap();
    for (arguments, said) in [
        (&["no-such-file"][..], &["no-such-file", "No such file"][..]),
        (&["."], &["cannot read .", "directory"]),
        (&["empty"], &["empty: "]),
        (&["events.jsonl"], &["events.jsonl", "not a watchtap capture"]),
        (&["run.cap", "--against", "events.jsonl"], &["events.jsonl", "not a watchtap capture"]),
        (&["run.cap", "--report", "no-such-folder/x"], &["cannot write no-such-folder/x"]),
    ] {
        let output = place.read(arguments);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""), "{arguments:?}: {}", stderr(&output));
        for part in said {
            assert!(stderr(&output).contains(part), "{part}: {}", stderr(&output));
        }
    }
    for arguments in [&[][..], &["--speed", "0", "run.cap"], &["--speed", "fast", "run.cap"]] {
        assert_eq!(place.read(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn report_on_a_full_disk_fails_with_an_error() {
    let place = Fixture::new();
    place.run(&["/api/v1/pods?limit=500"]);
    for format in ["text", "json"] {
        let mut command = place.command(&["read", "--format", format, "run.cap"]);
        command.stdout(fs::File::options().write(true).open("/dev/full").unwrap()).stderr(Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        let is_reported = stderr(&output).contains("cannot write the report") && stderr(&output).contains("No space left");
        assert!(output.status.code() == Some(1) && is_reported, "{format} {:?} {}", output.status, stderr(&output));
        let to_file = place.read(&["--format", format, "--report", "/dev/full", "run.cap"]);
        assert!(to_file.status.code() == Some(1) && stderr(&to_file).contains("No space left"), "{}", stderr(&to_file));
    }
}

#[test]
fn full_disk_ends_only_the_capture() {
    let place = Fixture::new();
    let finished = place.session(&["--capture", "/dev/full"], &["/api/v1/pods?limit=500"]);
    assert_eq!(finished.status.code(), Some(0));
    assert_eq!(finished.report["totals"]["requests"], 1);
    assert!(finished.report["missed"]["capture_ended"].as_str().unwrap().contains("space"), "{}", finished.report["missed"]);
    assert_eq!(finished.stderr.matches("stopped writing the capture").count(), 1, "{}", finished.stderr);
    assert!(finished.events.iter().any(|event| event["event"] == "capture-ended"));
}

#[test]
fn uncreatable_capture_fails_before_the_command_runs() {
    let place = Fixture::new();
    let marker = place.path("marker");
    for flags in [&["--capture", "no-such-folder/x"][..], &["--capture", "x", "--capture-max-size", "1"], &["--capture-files", "3"]]
    {
        let arguments = [&["exec"], flags, &["--", "touch", marker.to_str().unwrap()]].concat();
        let output = output_within(&mut place.command(&arguments), LIMIT).unwrap();
        assert_eq!(output.status.code(), Some(125), "{}", stderr(&output));
        assert!(!marker.exists(), "the command ran");
    }
}

#[test]
fn comparison_reports_worse_and_new_resources() {
    let place = Fixture::new();
    place.run(&["/api/v1/pods?limit=500", "/version"]);
    fs::rename(place.path("run.cap"), place.path("before.cap")).unwrap();
    place.run(&["/version", "/api/v1/pods?limit=500", "/api/v1/pods?limit=500", "/api/v1/namespaces/a/secrets"]);

    let output = place.read(&["run.cap", "--against", "before.cap", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let compared: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&compared["schema"], &compared["names"][0]), (&"watchtap.comparison/v1".into(), &"before.cap".into()));
    let row = |resource: &str| {
        let rows = compared["rows"].as_array().unwrap();
        rows.iter().find(|row| row["resource"] == resource).unwrap_or_else(|| panic!("no {resource}: {compared:#}"))
    };
    let counts = |row: &Value| [&row["before"]["count"], &row["after"]["count"]].map(Value::as_u64);
    assert_eq!((&row("pods")["change"], counts(row("pods"))), (&"worse".into(), [Some(1), Some(2)]));
    assert_eq!((&row("secrets")["change"], counts(row("secrets"))), (&"new".into(), [None, Some(1)]));
    assert_eq!(counts(row("/version")), [Some(1), Some(1)]);

    let text = stdout(&place.read(&["run.cap", "--against", "before.cap"]));
    assert!(text.contains("worse") && text.contains("1 → 2"), "{text}");

    let output = place.read(&["run.cap", "--against", "before.cap", "--format", "markdown", "--report", "comment.md"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let markdown = fs::read_to_string(place.path("comment.md")).unwrap();
    assert!(markdown.starts_with("**Worse:** ") && markdown.contains("- before `before.cap`: "), "{markdown}");
    assert!(markdown.lines().count() <= 60, "{markdown}");
}

#[test]
fn replay_writes_events_to_stdout_and_the_report_to_stderr() {
    let place = Fixture::new();
    place.run(&["/version"]);
    let output = place.read(&["run.cap", "--events", "-", "--speed", "100"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(lines(&stdout(&output)).iter().any(|event| event["event"] == "request"));
    assert!(stderr(&output).contains("watchtap read: run.cap"));
}

/// A report without the fields of the reading process: the command, its exit code, and the notes.
fn observed(report: &Value) -> Value {
    let mut report = report.clone();
    for field in ["command", "exit_code", "notes"] {
        report.as_object_mut().unwrap().remove(field).unwrap();
    }
    report
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Inflates every block of a capture, found by its mark (docs/capture.md), without the reader under test.
fn inflated(file: &[u8]) -> String {
    let mut text = String::new();
    let blocks = (0..file.len()).filter(|at| file[*at..].starts_with(b"\xC5blk"));
    for at in blocks {
        let packed = u32::from_le_bytes(file[at + 8..at + 12].try_into().unwrap()) as usize;
        if packed == 0 {
            // An end mark.
            continue;
        }
        DeflateDecoder::new(&file[at + 52..at + 52 + packed]).read_to_string(&mut text).unwrap();
    }
    text
}

/// A folder that serves as home and working folder, with a kubeconfig for a scripted API server.
struct Fixture {
    folder: TempDir,
    kubeconfig: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        fs::write(&kubeconfig, Upstream::start().kubeconfig()).unwrap();
        Self { folder, kubeconfig }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs these requests with the capture `run.cap`.
    #[track_caller]
    fn run(&self, paths: &[&str]) -> Finished {
        let capture = self.path("run.cap");
        let finished = self.session(&["--capture", capture.to_str().unwrap()], paths);
        assert!(finished.status.success(), "{}", finished.stderr);
        finished
    }

    #[track_caller]
    fn session(&self, arguments: &[&str], paths: &[&str]) -> Finished {
        let session = ExecSession::start(&self.kubeconfig, arguments).unwrap();
        let address = session.address().unwrap();
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        let connection = ClientConnection::new(session.tls(&[b"http/1.1"]).unwrap(), ServerName::from(address.ip())).unwrap();
        let mut stream = StreamOwned::new(connection, socket);
        for path in paths {
            write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
            let mut response = Vec::new();
            let mut piece = [0; 4096];
            while !response.ends_with(b"}") {
                let read = stream.read(&mut piece).unwrap();
                assert!(read > 0, "{path}: the connection ended");
                response.extend(&piece[..read]);
            }
        }
        drop(stream);
        session.finish().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let folder = self.folder.path();
        let mut command = watchtap().unwrap();
        command.args(arguments).current_dir(folder).env("KUBECONFIG", &self.kubeconfig).env("HOME", folder).env("TMPDIR", folder);
        command.env_remove("XDG_RUNTIME_DIR").stdin(Stdio::null());
        command
    }

    #[track_caller]
    fn read(&self, arguments: &[&str]) -> Output {
        output_within(&mut self.command(&[&["read"], arguments].concat()), LIMIT).unwrap()
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
