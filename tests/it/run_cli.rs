//! `watchtap run` as the user sees it: first lines, live lines, shutdown.

use std::fs;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use observer_tests::{Lines, ScriptedUpstream, connect, wait_within, watchtap};
use rustix::process::{Pid, Signal, kill_process};
use rustls::{ClientConnection, StreamOwned};
use serde_json::Value;
use tempfile::TempDir;

use super::upstream::{TOKEN, Upstream};

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn address_is_printed_before_any_upstream_response() {
    let (answer, asked) = std::sync::mpsc::channel::<()>();
    let asked = std::sync::Mutex::new(asked);
    let silent = ScriptedUpstream::start(&[b"http/1.1"], move |_stream| {
        // Waits until the test ends.
        let _over = asked.lock().unwrap().recv();
        Ok(())
    });
    let silent = silent.unwrap();
    let kubeconfig = super::upstream::kubeconfig(
        &format!("https://{}", silent.address()),
        &format!("certificate-authority-data: {}", BASE64_STANDARD.encode(silent.ca_pem())),
    );
    let running = Running::start(&kubeconfig, &[]);
    assert!(
        running.first_lines.contains(&format!("clients reach {} through {}", silent.address(), running.address())),
        "{}",
        running.first_lines
    );
    running.signal(Signal::INT);
    assert_eq!(running.ended().code, Some(0));
    drop(answer);
}

#[test]
fn request_is_printed_as_soon_as_it_is_answered() {
    let running = Running::start(&Upstream::start().kubeconfig(), &[]);
    let mut client = running.client();
    get(&mut client, "/api/v1/pods?resourceVersion=0");
    let line = running.line_with("pods");
    assert!(line.contains("a-test/1.0 pods") && line.contains("RV=0 → 404 NotFound"), "{line}");
    assert!(!line.contains('\u{1b}'), "a pipe is no terminal: {line}");
    running.signal(Signal::TERM);
    drop(client);
    let ended = running.ended();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    for part in ["watchtap run   API server: version v1.34.4", "pods", "unset KUBECONFIG", "localhost:8080"] {
        assert!(ended.said.contains(part), "{part:?} is missing: {}", ended.said);
    }
    assert!(!ended.said.contains(TOKEN));
}

#[test]
fn dead_api_server_is_detected_early_and_heads_the_report() {
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = dead.local_addr().unwrap();
    drop(dead);
    let running =
        Running::start(&super::upstream::kubeconfig(&format!("https://{address}"), "insecure-skip-tls-verify: true"), &[]);
    running.line_with("the API server refuses connections; watchtap refuses its clients, too");
    let refused = std::net::TcpStream::connect(running.address()).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    running.signal(Signal::INT);
    let said = running.ended().said;
    let (_, report) = said.split_once("watchtap run   API server").unwrap();
    let first = report.lines().skip(1).find(|line| !line.is_empty()).unwrap();
    assert!(
        first.starts_with("API server refuses connections for ") && first.ends_with("; watchtap refuses its clients, too"),
        "{said}"
    );
}

#[test]
fn first_signal_drains_connections_and_closes_the_port() {
    let running = Running::start(&Upstream::start().kubeconfig(), &[]);
    let mut client = running.client();
    get(&mut client, "/api/v1/pods");
    running.signal(Signal::INT);
    assert!(running.stderr_line_with("draining").contains("1 connection may finish within 30s"));
    // The listener closes before the grace period begins, shortly after the line.
    while std::net::TcpStream::connect(running.address()).is_ok() {
        std::thread::yield_now();
    }
    get(&mut client, "/api/v1/nodes");
    drop(client);
    let ended = running.ended();
    assert_eq!(ended.code, Some(0));
    assert!(ended.said.contains("nodes"), "what came after the signal is in the report: {}", ended.said);
}

#[test]
fn second_signal_stops_immediately() {
    let running = Running::start(&Upstream::start().kubeconfig(), &[]);
    let mut client = running.client();
    get(&mut client, "/api/v1/pods");
    running.signal(Signal::INT);
    running.stderr_line_with("draining");
    running.signal(Signal::INT);
    let ended = running.ended();
    assert_eq!(ended.code, Some(130), "{}", ended.said);
    assert!(ended.said.contains("stopped at once"), "{}", ended.said);
}

#[test]
fn connections_past_the_grace_period_end_with_close_notify() {
    let running = Running::start(&Upstream::start().kubeconfig(), &["--grace", "10ms"]);
    let mut client = running.client();
    get(&mut client, "/api/v1/pods");
    running.signal(Signal::TERM);
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).expect("close_notify and FIN, no reset");
    assert_eq!(rest, b"", "no byte of ours");
    assert_eq!(running.ended().code, Some(0));
}

#[test]
fn events_on_stdout_are_nothing_but_json_lines() {
    let running = Running::start(&Upstream::start().kubeconfig(), &["--events", "-"]);
    let mut client = running.client();
    get(&mut client, "/api/v1/pods");
    let line = running.line_with("\"event\":\"request\"");
    let event: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&event["verb"], &event["resource"]), (&"list".into(), &"pods".into()));
    running.signal(Signal::TERM);
    drop(client);
    assert_eq!(running.ended().code, Some(0));
}

#[test]
fn private_files_are_gone_at_the_end() {
    let running = Running::start(&Upstream::start().kubeconfig(), &[]);
    let folder = running.kubeconfig.parent().unwrap().to_owned();
    assert!(folder.exists());
    running.signal(Signal::HUP);
    assert_eq!(running.ended().code, Some(0));
    assert!(!folder.exists());
}

#[test]
fn control_characters_of_a_refused_request_are_escaped() {
    let refuses = ScriptedUpstream::start(&[b"http/1.1"], |stream| {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            request.push(byte[0]);
        }
        let (status, body) = if request.starts_with(b"GET /version ") {
            ("200 OK", r#"{"major":"1","minor":"34","gitVersion":"v1.34.4-\u001b]0;OWNED\u0007"}"#)
        } else {
            ("401 Unauthorized", r#"{"kind":"Status","code":401,"reason":"\u001b]0;OWNED\u0007","message":"\u202e\u009b"}"#)
        };
        let length = body.len();
        write!(stream, "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
    });
    let refuses = refuses.unwrap();
    let trust = format!("certificate-authority-data: {}", BASE64_STANDARD.encode(refuses.ca_pem()));
    let kubeconfig = super::upstream::kubeconfig(&format!("https://{}", refuses.address()), &trust);
    let folder = tempfile::tempdir().unwrap();
    let events = folder.path().join("events.jsonl");
    let running = Running::start(&kubeconfig, &["--events", events.to_str().unwrap()]);
    let mut client = running.client();
    get(&mut client, "/api/v1/pods?labelSelector=%1b%5d0%3bOWNED%07%e2%80%ae%c2%9b");
    let line = running.line_with("OWNED");
    running.signal(Signal::TERM);
    drop(client);
    let ended = running.ended();
    assert!(ended.said.contains("]0;OWNED\u{FFFD}\u{FFFD}\u{FFFD}"), "the report has the selector: {}", ended.said);
    let events = fs::read_to_string(events).unwrap();
    assert!(events.contains(r"]0;OWNED\u0007\u202e\u009b"), "{events}");
    for text in [line, ended.said, events] {
        let obeyed = text.chars().find(|character| *character != '\n' && (character.is_control() || *character == '\u{202e}'));
        assert_eq!(obeyed, None, "{text}");
    }
}

#[test]
fn every_terminating_signal_removes_the_private_folder() {
    const SIGNALS: &[&str] = &["ALRM", "VTALRM", "PROF", "XCPU", "XFSZ", "IO", "PWR", "16", "34", "64"];
    let server = Upstream::start();
    for signal in SIGNALS {
        let running = Running::start(&server.kubeconfig(), &[]);
        let folder = running.kubeconfig.parent().unwrap().to_owned();
        let kill = format!("kill -{signal} {}", running.watchtap.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success(), "{kill}");
        let ended = running.ended();
        assert_eq!(ended.code, Some(0), "{signal}: {}", ended.said);
        assert!(!folder.exists(), "{signal}");
    }
}

#[test]
fn or_demo_flag_starts_the_demo_with_the_reason() {
    let nobody = observer_tests::Port::reserve().unwrap();
    let elsewhere = Upstream::start().kubeconfig_to_port(nobody.number());
    for (kubeconfig, reason) in [(None, "no kubeconfig"), (Some(elsewhere), "does not answer")] {
        let running = Running::of("run", kubeconfig.as_deref(), &["--or-demo"]);
        assert!(
            running.first_lines.contains("this is the demo") && running.first_lines.contains(reason),
            "{}",
            running.first_lines
        );
        running.signal(Signal::INT);
        assert_eq!(running.ended().code, Some(0));
    }
}

#[test]
fn or_demo_flag_prefers_a_reachable_cluster() {
    let running = Running::start(&Upstream::start().kubeconfig(), &["--or-demo"]);
    assert!(running.first_lines.starts_with("watchtap run: "), "{}", running.first_lines);
    running.signal(Signal::INT);
    assert_eq!(running.ended().code, Some(0));
}

#[test]
fn demo_shows_every_layer_expired_watches_and_a_restart() {
    let running = Running::of("demo", None, &["--speed", "25"]);
    for layer in [
        "~ cache  list-rv0",
        "~ cache, consistent  ",
        "~ snapshot  ",
        "~ etcd  ",
        "watch  mesh-agent/1.9 pods",
        "410 Expired",
        "refuses connections",
    ] {
        running.line_with(layer);
    }
    running.line_with("list   mesh-agent/1.9 pods");
    running.signal(Signal::INT);
    let ended = running.ended();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    assert!(ended.said.contains("not observed: nothing"), "{}", ended.said);
}

/// A running `watchtap run`; dropping it kills the process.
struct Running {
    watchtap: Child,
    /// Standard error, line by line.
    said: Lines,
    /// Standard output, line by line.
    lines: Lines,
    first_lines: String,
    kubeconfig: PathBuf,
    cluster: Value,
    _folder: TempDir,
}

/// The output and exit status of a finished run.
struct Ended {
    code: Option<i32>,
    said: String,
}

impl Running {
    #[track_caller]
    fn start(kubeconfig: &str, flags: &[&str]) -> Self {
        Self::of("run", Some(kubeconfig), flags)
    }

    /// Starts any command that runs until it is interrupted.
    #[track_caller]
    fn of(subcommand: &str, kubeconfig: Option<&str>, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command: Command = watchtap().unwrap();
        command.arg(subcommand).args(flags).env("HOME", folder.path()).env("TMPDIR", folder.path()).env_remove("KUBECONFIG");
        if let Some(kubeconfig) = kubeconfig {
            let file = folder.path().join("kubeconfig");
            fs::write(&file, kubeconfig).unwrap();
            command.env("KUBECONFIG", file);
        }
        command.env_remove("XDG_RUNTIME_DIR").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut watchtap = command.spawn().unwrap();
        let said = Lines::of(watchtap.stderr.take().unwrap(), LIMIT);
        let lines = Lines::of(watchtap.stdout.take().unwrap(), LIMIT);
        let mut first_lines = String::new();
        let kubeconfig = loop {
            let line = said.next_line().unwrap().unwrap_or_else(|| panic!("it ended: {first_lines}"));
            first_lines.push_str(&line);
            first_lines.push('\n');
            if let Some(path) = line.trim().strip_prefix("export KUBECONFIG=") {
                break PathBuf::from(path);
            }
        };
        let document: Value = serde_json::from_str(&fs::read_to_string(&kubeconfig).unwrap()).unwrap();
        let cluster = document["clusters"][0]["cluster"].clone();
        Self { watchtap, said, lines, first_lines, kubeconfig, cluster, _folder: folder }
    }

    fn address(&self) -> SocketAddr {
        self.cluster["server"].as_str().unwrap().strip_prefix("https://").unwrap().parse().unwrap()
    }

    fn client(&self) -> StreamOwned<ClientConnection, std::net::TcpStream> {
        let authority = BASE64_STANDARD.decode(self.cluster["certificate-authority-data"].as_str().unwrap()).unwrap();
        connect(self.address(), &String::from_utf8(authority).unwrap(), &[b"http/1.1"]).unwrap()
    }

    #[track_caller]
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.watchtap), signal).unwrap();
    }

    /// The first line of standard output that contains `part`.
    #[track_caller]
    fn line_with(&self, part: &str) -> String {
        line_with(&self.lines, part)
    }

    /// The first line of standard error that contains `part`.
    #[track_caller]
    fn stderr_line_with(&self, part: &str) -> String {
        line_with(&self.said, part)
    }

    #[track_caller]
    fn ended(mut self) -> Ended {
        let code = wait_within(&mut self.watchtap, LIMIT).unwrap().code();
        let mut said = String::new();
        while let Some(line) = self.said.next_line().unwrap() {
            said.push_str(&line);
            said.push('\n');
        }
        Ended { code, said }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The kill fails if it has already exited.
        let _ended = self.watchtap.kill();
        let _reaped = self.watchtap.wait();
    }
}

#[track_caller]
fn line_with(lines: &Lines, part: &str) -> String {
    loop {
        let line = lines.next_line().unwrap().unwrap_or_else(|| panic!("no line with {part:?}"));
        if line.contains(part) {
            return line;
        }
    }
}

/// Sends one request and reads the complete response.
#[track_caller]
fn get(stream: &mut (impl Read + Write), path: &str) {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nUser-Agent: a-test/1.0\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    let mut response = [0; 4096];
    let mut read = 0;
    while !response[..read].ends_with(b"}") {
        read += stream.read(&mut response[read..]).unwrap();
    }
}
