//! Runs every command with canaries in all of its inputs, at the highest log level, and searches all of its outputs.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use observer_core::http::Direction;
use observer_tests::canary::{Canary, Places, Search};
use observer_tests::scrape::Scraper;
use observer_tests::scripted_forward_proxy::{Protocol, ProxyReply, ScriptedForwardProxy, authorization};
use observer_tests::{Lines, Port, ScriptedUpstream, ServerStream, connect, end_sending, output_within, wait_within, watchtap};
use rcgen::KeyPair;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::given::{Given, give, key_canaries};
use super::runs::{self, Run};
use super::secrets::{search, secret};
use super::traffic::{Conversation, conversations};
use crate::dialogue::play;
use crate::verify_cli::server_of_roles;

pub(super) const LIMIT: Duration = Duration::from_mins(1);

#[test]
fn exec_and_read_leave_no_canary() {
    let scene = Scene::new();
    let mut child = scene.start(&runs::EXEC, Stdio::piped());
    let said = Lines::of(child.stdout.take().unwrap(), LIMIT);
    let kubeconfig = PathBuf::from(said.next_line().unwrap().unwrap());
    let scene = scene.seeking(private_keys(&kubeconfig));
    Scene::converse(&kubeconfig);
    scene.assert_metrics_clean(&runs::EXEC);
    run_plugin(&scene, &kubeconfig);
    let command = scene.left("exec-command");
    assert!(command.contains(kubeconfig.to_str().unwrap()), "the command has written down its environment: {command}");
    scene.assert_clean("exec while it runs");
    scene.assert_process_clean(&child, &["cmdline", "environ"]);
    drop(child.stdin.take());
    assert!(wait_within(&mut child, LIMIT).unwrap().success());
    scene.assert_clean("exec");
    for file in ["exec-report", "exec-events"] {
        assert!(scene.left(file).contains("canary/1.0"), "{file} shows who asked");
    }
    for run in runs::READ {
        scene.run_to_its_end(run);
    }
    assert!(scene.left("read-report").contains("canary/2.0"), "the capture holds what was seen");
    scene.assert_clean("read");
}

#[test]
fn run_leaves_no_canary() {
    let scene = Scene::new();
    let mut child = scene.start(&runs::RUN, Stdio::null());
    let kubeconfig = scene.announced_kubeconfig(&runs::RUN, &mut child);
    let scene = scene.seeking(private_keys(&kubeconfig));
    Scene::converse(&kubeconfig);
    scene.assert_metrics_clean(&runs::RUN);
    for run in runs::ATTACH {
        scene.run_to_its_end(run);
    }
    assert!(scene.left("attached-report").contains("secrets"), "the report of the attached process shows what was asked");
    scene.assert_clean("run while it runs");
    scene.assert_process_clean(&child, &["cmdline", "environ"]);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(wait_within(&mut child, LIMIT).unwrap().success());
    scene.assert_clean("run");
    assert!(scene.left("run-report").contains("secrets"), "the report shows what was asked");
}

#[test]
fn refusal_by_a_forward_proxy_is_reported_without_a_canary() {
    let scene = Scene::new();
    let mut child = scene.start(&runs::RUN_THROUGH_PROXY, Stdio::null());
    let kubeconfig = scene.announced_kubeconfig(&runs::RUN_THROUGH_PROXY, &mut child);
    let (address, authority) = endpoint(&kubeconfig);
    assert!(connect(address, &authority, &[b"http/1.1"]).is_err(), "the proxy lets nobody through");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(wait_within(&mut child, LIMIT).unwrap().success());
    assert!(
        scene.output_of("run behind a proxy").contains("403"),
        "what the proxy answered is told: {}",
        scene.output_of("run behind a proxy")
    );
    scene.assert_clean("run behind a proxy");
}

#[test]
fn environment_proxy_password_is_not_shown() {
    let mut scene = Scene::new();
    let proxy = ScriptedForwardProxy::start(Protocol::Http, ProxyReply::Connect(scene.upstream.address())).unwrap();
    scene.proxy = Some(with_password("http", &proxy.address.to_string()));
    assert!(scene.run_by_proxy().is_ok(), "{}", scene.output_of("run by a proxy of the environment"));
    let authorization = authorization("user", &secret("environment proxy password"));
    let asked = proxy.asked();
    assert!(asked.len() >= 4 && asked.iter().all(|head| head.contains(&authorization)), "the password was used: {asked:?}");
}

#[test]
fn failing_environment_proxy_password_is_not_shown() {
    let mut scene = Scene::new();
    let password = secret("environment proxy password");
    let answer = format!("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic {password}\r\n\r\n{password}");
    let refusing = ScriptedForwardProxy::start(Protocol::Http, ProxyReply::Bytes(answer.into_bytes())).unwrap();
    let port = Port::reserve().unwrap();
    let nobody = format!("127.0.0.1:{}", port.number());
    for (scheme, address) in [
        ("http", refusing.address.to_string()),
        // This server does not speak TLS.
        ("https", refusing.address.to_string()),
        ("http", nobody.clone()),
        ("socks5", nobody),
    ] {
        scene.proxy = Some(with_password(scheme, &address));
        assert!(scene.run_by_proxy().is_err(), "{scheme}://{address} lets nobody through");
    }
    for unusable in [with_password("ftp", "127.0.0.1:1"), with_password("http", "[::1"), with_password("http", "x:99999")] {
        scene.proxy = Some(unusable);
        for run in [&runs::RUN_BY_PROXY].into_iter().chain(runs::BY_PROXY) {
            scene.run_to_its_end(run);
        }
        scene.assert_clean("an unusable proxy");
        let said = scene.output_of("exec by a proxy of the environment");
        assert!(said.contains("HTTPS_PROXY"), "what is wrong is told: {said}");
    }
}

#[test]
fn demo_never_shows_its_token() {
    let scene = Scene::new();
    let mut child = scene.start(&runs::DEMO, Stdio::null());
    let kubeconfig = scene.announced_kubeconfig(&runs::DEMO, &mut child);
    let token = document(&kubeconfig)["users"][0]["user"]["token"].as_str().unwrap().to_owned();
    let scene = scene.seeking(vec![Canary::new("the demo's token", token)]);
    while !scene.left("demo-events").contains("\"event\":\"request\"") {
        std::thread::yield_now();
    }
    scene.assert_metrics_clean(&runs::DEMO);
    scene.assert_clean("demo while it runs");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(wait_within(&mut child, LIMIT).unwrap().success());
    scene.assert_clean("demo");
}

#[test]
fn standalone_commands_show_no_canary() {
    let scene = Scene::new();
    for run in runs::ALONE {
        scene.run_to_its_end(run);
    }
    scene.assert_clean("commands that need nobody");
}

#[test]
fn verify_shows_no_canary() {
    let scene = Scene::new();
    let server = server_of_roles();
    give::verified(&scene.places, server.address(), server.ca_pem());
    for run in runs::VERIFY {
        scene.run_to_its_end(run);
    }
    scene.run_to_its_end(&runs::VERIFY_BY_PLUG_IN);
    scene.assert_plugin_clean();
    scene.assert_clean("verify");
}

/// An isolated environment with canaries, and an API server that returns more of them.
pub(super) struct Scene {
    places: Places,
    search: Search,
    given: Given,
    upstream: ScriptedUpstream,
    /// The proxy variable of the environment.
    proxy: Option<String>,
    /// Further variables of the environment.
    pub(super) variables: Vec<(&'static str, String)>,
}

impl Scene {
    pub(super) fn new() -> Self {
        let places = Places::new().unwrap();
        let upstream = ScriptedUpstream::start(&[b"h2", b"http/1.1"], serve).unwrap();
        let answer = format!("HTTP/1.1 403 Forbidden\r\nSet-Cookie: {0}\r\n\r\n{0}", secret("proxy answer"));
        let proxy = ScriptedForwardProxy::start(Protocol::Http, ProxyReply::Bytes(answer.into_bytes())).unwrap();
        let given = Given::to(&places, upstream.address(), upstream.ca_pem(), proxy.address);
        Self { search: search(given.keys.clone()), places, given, upstream, proxy: None, variables: Vec::new() }
    }

    /// Adds canaries to the search.
    fn seeking(self, more: Vec<Canary>) -> Self {
        let all = self.given.keys.iter().cloned().chain(more).collect();
        Self { search: search(all), ..self }
    }

    fn command(&self, run: &Run) -> Command {
        let left = self.places.left();
        let mut command = watchtap().unwrap();
        command.args(run.arguments.iter().map(|argument| {
            let argument = argument.replace("@left", left.to_str().unwrap());
            with_secrets(&argument.replace("@given", self.given.folder.to_str().unwrap()))
        }));
        self.places.enclose(&mut command);
        command.env_remove("KUBECONFIG").env("WATCHTAP_LOG", "trace").env("RUST_BACKTRACE", "full").stdin(Stdio::piped());
        command.envs(self.proxy.iter().map(|proxy| ("HTTPS_PROXY", proxy)));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(super) fn start(&self, run: &Run, stdout: Stdio) -> Child {
        let mut command = self.command(run);
        let stderr = File::create(self.given.folder.join(format!("{} stderr", run.name))).unwrap();
        let is_shown = run.name != "exec";
        let shown = File::create(self.given.folder.join(format!("{} stdout", run.name))).unwrap();
        command.stdout(if is_shown { shown.into() } else { stdout }).stderr(stderr).spawn().unwrap()
    }

    #[track_caller]
    pub(super) fn run_to_its_end(&self, run: &Run) {
        let output = output_within(&mut self.command(run), LIMIT).unwrap();
        fs::write(self.given.folder.join(format!("{} stdout", run.name)), &output.stdout).unwrap();
        fs::write(self.given.folder.join(format!("{} stderr", run.name)), &output.stderr).unwrap();
        assert!(self.output_of(run.name).contains(run.shows), "{} got elsewhere: {}", run.name, self.output_of(run.name));
    }

    /// Both output streams of a run so far.
    pub(super) fn output_of(&self, run: &str) -> String {
        let stream = |stream: &str| fs::read_to_string(self.given.folder.join(format!("{run} {stream}"))).unwrap_or_default();
        stream("stdout") + &stream("stderr")
    }

    fn left(&self, file: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.places.left().join(file)).unwrap_or_default()).into_owned()
    }

    /// The kubeconfig that `run` and `demo` announce for their clients.
    pub(super) fn announced_kubeconfig(&self, run: &Run, child: &mut Child) -> PathBuf {
        loop {
            let said = self.output_of(run.name);
            let announced = said.lines().find_map(|line| line.trim().strip_prefix("export KUBECONFIG="));
            if let Some(path) = announced {
                return PathBuf::from(path);
            }
            assert!(child.try_wait().unwrap().is_none(), "it ended and said: {said}");
            std::thread::yield_now();
        }
    }

    /// Runs watchtap with a proxy in the environment. Returns whether a client could connect.
    #[track_caller]
    fn run_by_proxy(&self) -> Result<(), anyhow::Error> {
        for run in runs::BY_PROXY {
            self.run_to_its_end(run);
        }
        let mut child = self.start(&runs::RUN_BY_PROXY, Stdio::null());
        let kubeconfig = self.announced_kubeconfig(&runs::RUN_BY_PROXY, &mut child);
        let (address, authority) = endpoint(&kubeconfig);
        let connected = connect(address, &authority, &[b"http/1.1"]);
        self.assert_clean("run by a proxy of the environment while it runs");
        // The user put the password into the environment, so the environment is not searched.
        self.assert_process_clean(&child, &["cmdline"]);
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert!(wait_within(&mut child, LIMIT).unwrap().success());
        self.assert_clean("run by a proxy of the environment");
        connected.map(drop)
    }

    /// Plays all conversations through watchtap, one after another.
    pub(super) fn converse(kubeconfig: &Path) {
        let (address, authority) = endpoint(kubeconfig);
        for Conversation { name, protocol, said } in conversations() {
            let mut stream = connect(address, &authority, &[protocol.as_bytes()]).unwrap();
            let mut heard = Vec::new();
            play(&said, Direction::Request, &mut stream, &mut heard).unwrap();
            let expected: Vec<u8> =
                said.into_iter().filter(|(who, _)| *who == Direction::Response).flat_map(|(_, bytes)| bytes).collect();
            assert!(heard == expected, "{name}: the client did not hear what was said");
        }
    }

    /// The canaries in bytes that left this machine.
    pub(super) fn hits(&self, bytes: &[u8]) -> Vec<String> {
        self.search.hits(bytes).iter().map(|hit| format!("{hit:?}")).collect()
    }

    /// Searches all files and both output streams.
    #[track_caller]
    pub(super) fn assert_clean(&self, what: &str) {
        let private = self.places.search(&self.search, |file| {
            // A file for the client; its mode is checked like that of all files.
            file.file_name().is_some_and(|name| name == "kubeconfig" || name == "demo-kubeconfig")
        });
        let mut leaks = private.unwrap().leaks;
        for entry in fs::read_dir(&self.given.folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.ends_with(" stdout") || name.ends_with(" stderr") {
                let hits = self.search.hits(&fs::read(&path).unwrap());
                leaks.extend(hits.iter().map(|hit| format!("{name}: {hit}")));
            }
        }
        assert!(leaks.is_empty(), "{what} leaks:\n  {}", leaks.join("\n  "));
    }

    /// Searches the metrics of a run.
    #[track_caller]
    fn assert_metrics_clean(&self, run: &Run) {
        let scraper = Scraper::announced_in(&self.output_of(run.name)).unwrap();
        let mut page = scraper.scrape().unwrap();
        while !page.text().contains("watchtap_requests_total{client=") {
            page = scraper.scrape().unwrap();
        }
        assert_eq!(self.search.hits(page.text().as_bytes()), [], "the metrics of {}", run.name);
    }

    /// Searches the files of a process under `/proc`: `cmdline`, which every user can read, and `environ`, which its owner can
    /// read.
    #[track_caller]
    fn assert_process_clean(&self, child: &Child, files: &[&str]) {
        for file in files {
            let bytes = fs::read(format!("/proc/{}/{file}", child.id())).unwrap();
            assert!(!bytes.is_empty());
            assert_eq!(self.search.hits(&bytes), [], "{file}");
        }
    }

    /// Searches the plugin's records of its callers' command lines and of its own environment.
    #[track_caller]
    fn assert_plugin_clean(&self) {
        let written = |name: &str| fs::read(self.given.folder.join(name)).unwrap();
        assert!(!written("helpers").is_empty());
        assert_eq!(self.search.hits(&written("helpers")), [], "the command line of a helper");
        let environment = self.search.hits(&written("environment"));
        let places: Vec<&str> = environment.iter().map(|hit| hit.place.as_str()).collect();
        assert_eq!(places, ["kubeconfig plugin environment"], "what the kubeconfig says, and nothing else: {environment:?}");
    }
}

/// Replaces `@flag-token` by the canary of the place `flag token`.
fn with_secrets(argument: &str) -> String {
    let places = [
        "explained url password",
        "explained query",
        "otlp url password",
        "kubeconfig server password",
        "flag token",
        "flag password",
        "argument bearer",
        "argument url password",
    ];
    places
        .iter()
        .fold(argument.to_owned(), |argument, place| argument.replace(&format!("@{}", place.replace(' ', "-")), &secret(place)))
}

/// The API server's side of the conversation that starts with these bytes. It also answers watchtap's own requests.
fn serve(stream: &mut ServerStream) -> io::Result<()> {
    let conversations = conversations();
    let mut heard = Vec::new();
    loop {
        if let Some(found) = conversations.iter().find(|one| one.said[0].1 == heard) {
            return play(&found.said[1..], Direction::Response, stream, &mut Vec::new());
        }
        let is_question = heard.starts_with(b"GET /version HTTP/1.1\r\n") || heard.starts_with(b"GET /metrics ");
        if is_question && heard.ends_with(b"\r\n\r\n") {
            let body = r#"{"gitVersion":"v1.34.4"}"#;
            let length = body.len();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
            stream.write_all(answer.as_bytes())?;
            return end_sending(stream);
        }
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        heard.extend(byte);
    }
}

/// Runs the command that the client's kubeconfig has in place of the plugin. It prints the plugin's token, and no other secret
/// leaks.
#[track_caller]
fn run_plugin(scene: &Scene, kubeconfig: &Path) {
    let document = document(kubeconfig);
    let users = document["users"].as_array().unwrap();
    let exec = users.iter().map(|user| &user["user"]["exec"]).find(|exec| exec.is_object()).unwrap();
    let mut command = Command::new(exec["command"].as_str().unwrap());
    command.args(exec["args"].as_array().unwrap().iter().filter_map(Value::as_str));
    for variable in exec["env"].as_array().unwrap() {
        command.env(variable["name"].as_str().unwrap(), variable["value"].as_str().unwrap());
    }
    scene.places.enclose(&mut command);
    let output = output_within(command.env("WATCHTAP_LOG", "trace"), LIMIT).unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains(&secret("plugin token")), "{output:?}");
    assert_eq!(scene.search.hits(&output.stderr), []);
    scene.assert_plugin_clean();
}

/// The private keys generated for this run, which the client's kubeconfig has in place of the user's own.
#[track_caller]
fn private_keys(kubeconfig: &Path) -> Vec<Canary> {
    let document = document(kubeconfig);
    let users = document["users"].as_array().unwrap();
    let keys: Vec<Canary> = users
        .iter()
        .filter_map(|user| BASE64_STANDARD.decode(user["user"]["client-key-data"].as_str()?).ok())
        .flat_map(|pem| key_canaries("a private key", &KeyPair::from_pem(&String::from_utf8(pem).unwrap()).unwrap()))
        .collect();
    assert!(!keys.is_empty(), "there is a user with a client certificate");
    keys
}

/// The URL of a proxy, as in the environment.
fn with_password(scheme: &str, address: &str) -> String {
    format!("{scheme}://user:{}@{address}", secret("environment proxy password"))
}

/// Server address and CA of the client's kubeconfig.
fn endpoint(kubeconfig: &Path) -> (SocketAddr, String) {
    let document = document(kubeconfig);
    let cluster = &document["clusters"][0]["cluster"];
    let server = cluster["server"].as_str().unwrap().strip_prefix("https://").unwrap();
    let authority = BASE64_STANDARD.decode(cluster["certificate-authority-data"].as_str().unwrap()).unwrap();
    (server.parse().unwrap(), String::from_utf8(authority).unwrap())
}

fn document(kubeconfig: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(kubeconfig).unwrap()).unwrap()
}
