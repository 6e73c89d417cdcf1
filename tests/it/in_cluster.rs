//! `watchtap run --in-cluster` with the mounts, the user and the variables of a sidecar. There is no kubelet here: `tests/node` has
//! one.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use observer_tests::scrape::Scraper;
use observer_tests::sidecar::{self, Sidecar, Volumes, has_mode, kubelet_variables};
use observer_tests::{ClientStream, Port, connect, output_within, watchtap};
use rustix::process::Signal;
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use serde_json::Value;

use super::upstream::{SECRET_DATA, Upstream, VERSION};

/// A longer wait counts as a hang.
const LIMIT: Duration = Duration::from_secs(30);
/// The protocol of the scripted API server.
pub(super) const HTTP1: &[&[u8]] = &[b"http/1.1"];

/// A pod with a container `app`, whose clients connect to `port`.
pub(super) struct Pod {
    pub(super) upstream: Upstream,
    pub(super) volumes: Volumes,
    pub(super) port: Port,
}

impl Pod {
    /// `None` if pods cannot be made here.
    pub(super) fn new() -> Option<Self> {
        Self::with(Upstream::start())
    }

    pub(super) fn with(upstream: Upstream) -> Option<Self> {
        let volumes = Volumes::new(&upstream.authority()).unwrap()?;
        Some(Self { upstream, volumes, port: Port::reserve().unwrap() })
    }

    pub(super) fn start(&self, arguments: &[&str]) -> Sidecar {
        self.start_at(self.upstream.address(), arguments)
    }

    pub(super) fn start_at(&self, api_server: SocketAddr, arguments: &[&str]) -> Sidecar {
        let container = self.container();
        let all: Vec<&str> = ["--container", &container, "--metrics", "127.0.0.1:0"].iter().chain(arguments).copied().collect();
        let sidecar = Sidecar::start(&self.volumes, api_server, &all).unwrap();
        let metrics = Scraper::announced_in(&sidecar.stderr_line_with("metrics: ").unwrap()).unwrap();
        until("the sidecar has started", || metrics.get("/started", "").is_ok_and(|started| started.status == 200));
        sidecar
    }

    /// The value of `--container`.
    pub(super) fn container(&self) -> String {
        format!("app={}", self.port.number())
    }

    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port.number()))
    }

    /// A client that trusts `trusted`.
    pub(super) fn client(&self, trusted: &str) -> ClientStream {
        connect(self.address(), trusted, HTTP1).unwrap()
    }
}

#[test]
fn first_start_writes_what_clients_need_and_leads_them_to_the_api_server() {
    let Some(pod) = Pod::new() else { return };
    fs::write(pod.volumes.path("moved/token"), "first token").unwrap();
    let _sidecar = pod.start(&[]);

    let trusted = pod.volumes.trusted();
    assert_eq!(trusted.matches("BEGIN CERTIFICATE").count(), 2);
    assert!(trusted.ends_with(&pod.upstream.authority()) && !trusted.starts_with(&pod.upstream.authority()));
    assert!(has_mode(&pod.volumes.path("trust/ca.crt"), 0o644).unwrap());
    assert!(has_mode(&pod.volumes.path("own/ca.pem"), 0o600).unwrap());
    assert!(!trusted.contains("PRIVATE KEY"));

    let mut client = pod.client(&trusted);
    assert_eq!(get(&mut client, "/version"), VERSION);
    // A client that bypasses the sidecar verifies the real server with the same file.
    let mut direct = connect(pod.upstream.address(), &trusted, HTTP1).unwrap();
    assert_eq!(get(&mut direct, "/version"), VERSION);

    let token = "cat /var/run/secrets/kubernetes.io/serviceaccount/token";
    assert_eq!(pod.volumes.in_app(token).unwrap(), "first token");
    fs::write(pod.volumes.path("moved/token"), "second token").unwrap();
    assert_eq!(pod.volumes.in_app(token).unwrap(), "second token");
    assert_eq!(pod.volumes.in_app("ls /var/run/secrets/kubernetes.io/serviceaccount").unwrap(), "ca.crt\nnamespace\ntoken\n");
    assert!(pod.volumes.in_app("echo x > /var/run/secrets/kubernetes.io/serviceaccount/ca.crt").is_err(), "the app cannot write");
}

#[test]
fn certificate_has_all_names_of_the_api_server() {
    // Another address than that of the listener.
    let Some(pod) = Pod::with(Upstream::at(Ipv4Addr::new(127, 0, 0, 2).into(), "127.0.0.2")) else { return };
    let _sidecar = pod.start(&[]);
    let trusted = pod.volumes.trusted();
    let client = pod.client(&trusted);
    let is_valid_for = |name| is_valid_for(&client, &trusted, name);
    for name in ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.corp.example"] {
        assert!(is_valid_for(name), "{name}");
    }
    for name in ["127.0.0.2", "127.0.0.1", "::1", "localhost"] {
        assert!(is_valid_for(name), "{name}");
    }
    for name in ["127.0.0.3", "kubernetes.default.svc.cluster.local", "default.svc", "svc.corp.example"] {
        assert!(!is_valid_for(name), "{name}");
    }
}

#[test]
fn restarted_sidecar_serves_clients_that_read_their_ca_before() {
    let Some(pod) = Pod::new() else { return };
    let sidecar = pod.start(&[]);
    let trusted = pod.volumes.trusted();
    get(&mut pod.client(&trusted), "/version");
    sidecar.signal(Signal::KILL).unwrap();
    drop(sidecar);
    let _restarted = pod.start(&[]);
    assert_eq!(pod.volumes.trusted(), trusted);
    assert_eq!(get(&mut pod.client(&trusted), "/version"), VERSION);
}

#[test]
fn unusable_authority_is_replaced_with_a_message() {
    let Some(pod) = Pod::new() else { return };
    drop(pod.start(&[]));
    let trusted = pod.volumes.trusted();
    fs::write(pod.volumes.path("own/ca.pem"), "not an authority").unwrap();
    let sidecar = pod.start_at(pod.upstream.address(), &[]);
    let said = sidecar.stderr_line_with("is replaced by a new certificate authority").unwrap();
    assert!(said.contains("own/ca.pem") && said.contains("fail until their container restarts"), "{said}");
    assert_ne!(pod.volumes.trusted(), trusted);
    get(&mut pod.client(&pod.volumes.trusted()), "/version");
    drop(sidecar);
}

#[test]
fn changed_ca_of_the_cluster_reaches_clients_while_the_sidecar_runs() {
    let Some(pod) = Pod::new() else { return };
    let _sidecar = pod.start(&[]);
    let other = Upstream::start().authority();
    pod.volumes.publish_cluster_ca(&(pod.upstream.authority() + &other)).unwrap();
    until("ca.crt has the new CA", || pod.volumes.trusted().ends_with(&other));
    get(&mut pod.client(&pod.volumes.trusted()), "/version");
}

#[test]
fn sidecar_starts_without_an_api_server_and_refuses_clients_until_it_is_there() {
    let Some(pod) = Pod::new() else { return };
    let dead = Port::reserve().unwrap();
    let sidecar = pod.start_at(SocketAddr::from(([127, 0, 0, 1], dead.number())), &[]);
    sidecar.line_with("the API server refuses connections; watchtap refuses its clients, too").unwrap();
    assert_eq!(TcpStream::connect(pod.address()).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    let _back = TcpListener::bind(("127.0.0.1", dead.number())).unwrap();
    sidecar.line_with("watchtap's port accepts connections").unwrap();
    TcpStream::connect(pod.address()).unwrap();
}

#[test]
fn idle_sidecar_ends_without_waiting_and_reports_on_stdout() {
    let Some(pod) = Pod::new() else { return };
    let mut sidecar = pod.start(&[]);
    let mut client = pod.client(&pod.volumes.trusted());
    get(&mut client, "/api/v1/namespaces/a/secrets");
    drop(client);
    let asked = Instant::now();
    sidecar.signal(Signal::TERM).unwrap();
    let (status, stdout, stderr) = sidecar.wait().unwrap();
    // With a client, it would wait for 20 s.
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    assert_eq!(status.code(), Some(0), "{stderr}");
    assert!(stdout.contains("watchtap run   API server: version v1.34.4") && stdout.contains("secrets"), "{stdout}");
    assert!(!stderr.contains("KUBECONFIG"), "{stderr}");
    assert!(pod.volumes.path("trust/ca.crt").exists(), "a sidecar that starts next needs no client to wait");
}

#[test]
fn request_has_a_line_in_the_log_only_on_demand() {
    let Some(pod) = Pod::new() else { return };
    let mut sidecar = pod.start(&[]);
    let mut client = pod.client(&pod.volumes.trusted());
    for _request in 0..10 {
        get(&mut client, "/api/v1/namespaces/a/secrets");
    }
    drop(client);
    sidecar.signal(Signal::TERM).unwrap();
    let (_, stdout, _) = sidecar.wait().unwrap();
    let (before_report, _) = stdout.split_once("watchtap run   API server").unwrap();
    assert!(!before_report.contains("secrets"), "{stdout}");

    let mut sidecar = pod.start(&["--lines"]);
    get(&mut pod.client(&pod.volumes.trusted()), "/api/v1/namespaces/a/secrets");
    sidecar.line_with("secrets").unwrap();
    sidecar.signal(Signal::TERM).unwrap();
    sidecar.wait().unwrap();
}

#[test]
fn clients_have_the_name_of_their_container() {
    let Some(pod) = Pod::new() else { return };
    let second = Port::reserve().unwrap();
    let mut sidecar = pod.start(&["--container", &format!("other={}", second.number()), "--events", "-", "--lines"]);
    let trusted = pod.volumes.trusted();
    let other = SocketAddr::from(([127, 0, 0, 1], second.number()));
    for address in [pod.address(), other] {
        get(&mut connect(address, &trusted, HTTP1).unwrap(), "/api/v1/namespaces/a/secrets");
    }
    sidecar.signal(Signal::TERM).unwrap();
    let (status, stdout, stderr) = sidecar.wait().unwrap();
    assert_eq!(status.code(), Some(0), "{stderr}");
    let events: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    let names = |values: Vec<&Value>| values.into_iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
    let opened = of("connection-opened");
    assert_eq!(names(opened.iter().map(|opened| &opened["container_name"]).collect()), ["app", "other"]);
    assert!(opened.iter().all(|opened| opened["process"].is_null()), "a process of another PID namespace is unknown: {opened:?}");
    let clients = of("request").into_iter().map(|request| &request["client"]["container_name"]).collect();
    assert_eq!(names(clients), ["app", "other"]);
    for line in ["app:a-test/1.0", "other:a-test/1.0"] {
        assert!(stderr.contains(line), "without stdout, lines are on stderr: {stderr}");
    }
}

#[test]
fn token_of_a_client_is_in_no_file_and_no_output_of_the_sidecar() {
    const TOKEN: &str = "c4n4ry-of-a-pod";
    let Some(pod) = Pod::new() else { return };
    let mut sidecar = pod.start(&["--lines"]);
    let mut client = pod.client(&pod.volumes.trusted());
    write!(client, "GET /api/v1/namespaces/a/secrets HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    read_response(&mut client);
    drop(client);
    sidecar.line_with("secrets").unwrap();
    sidecar.signal(Signal::TERM).unwrap();
    let (_, stdout, stderr) = sidecar.wait().unwrap();
    let files = ["own", "trust"].map(|volume| fs::read_dir(pod.volumes.path(volume)).unwrap());
    let files = files.into_iter().flatten().filter_map(|file| fs::read_to_string(file.unwrap().path()).ok());
    let left: Vec<String> = files.chain([stdout, stderr]).collect();
    assert!(left.len() >= 4, "the key, ca.crt and both streams");
    for text in left {
        assert!(!text.contains(TOKEN) && !text.contains(SECRET_DATA), "{text}");
    }
}

#[test]
fn clients_are_served_after_sigterm_until_none_is_connected() {
    let Some(pod) = Pod::new() else { return };
    let mut sidecar = pod.start(&[]);
    let trusted = pod.volumes.trusted();
    let mut watching = pod.client(&trusted);
    get(&mut watching, "/version");
    sidecar.signal(Signal::TERM).unwrap();
    let line = sidecar.stderr_line_with("stopping: ").unwrap();
    assert!(line.contains("for at most 20s (--grace); 1 connection open"), "{line}");
    // Such as to give up a lease.
    let mut another = pod.client(&trusted);
    get(&mut another, "/api/v1/namespaces/a/secrets");
    get(&mut watching, "/api/v1/nodes");
    drop((watching, another));
    let (status, stdout, stderr) = sidecar.wait().unwrap();
    assert_eq!(status.code(), Some(0), "{stderr}");
    assert!(stdout.contains("secrets") && stdout.contains("nodes"), "{stdout}");
}

#[test]
fn container_is_served_after_sigterm_while_another_one_is_connected() {
    let Some(pod) = Pod::new() else { return };
    let second = Port::reserve().unwrap();
    let mut sidecar = pod.start(&["--container", &format!("other={}", second.number())]);
    let trusted = pod.volumes.trusted();
    let mut watching = pod.client(&trusted);
    get(&mut watching, "/version");
    sidecar.signal(Signal::TERM).unwrap();
    sidecar.stderr_line_with("stopping: ").unwrap();
    let other = SocketAddr::from(([127, 0, 0, 1], second.number()));
    // A client without keep-alive: nothing is connected to its listener between two requests.
    for _request in 0..3 {
        let mut client = connect(other, &trusted, HTTP1).unwrap();
        get(&mut client, "/api/v1/namespaces/a/secrets");
    }
    get(&mut watching, "/api/v1/nodes");
    drop(watching);
    // Within the quiet time after the last connection, the next one is served.
    get(&mut connect(other, &trusted, HTTP1).unwrap(), "/api/v1/namespaces/a/secrets");
    let (status, stdout, stderr) = sidecar.wait().unwrap();
    assert_eq!(status.code(), Some(0), "{stderr}");
    assert!(stdout.contains("secrets") && stdout.contains("nodes"), "{stdout}");
}

#[test]
fn connection_that_stays_open_is_closed_at_the_limit() {
    let Some(pod) = Pod::new() else { return };
    let mut sidecar = pod.start(&["--grace", "100ms"]);
    let mut watching = pod.client(&pod.volumes.trusted());
    get(&mut watching, "/version");
    sidecar.signal(Signal::TERM).unwrap();
    let (status, _, stderr) = sidecar.wait().unwrap();
    assert_eq!(status.code(), Some(0), "{stderr}");
    assert_eq!(watching.read(&mut [0]).unwrap(), 0, "close_notify");
}

#[test]
fn repeated_sigterm_cuts_no_client() {
    let Some(pod) = Pod::new() else { return };
    let mut sidecar = pod.start(&[]);
    let mut watching = pod.client(&pod.volumes.trusted());
    get(&mut watching, "/version");
    sidecar.signal(Signal::TERM).unwrap();
    // Signals within a moment count as one. This line comes after that moment.
    sidecar.stderr_line_with("stopping: ").unwrap();
    sidecar.signal(Signal::TERM).unwrap();
    for _request in 0..10 {
        get(&mut watching, "/api/v1/nodes");
    }
    // The sidecar then waits for a moment before it ends, so it has taken the signal.
    drop(watching);
    let (status, stdout, stderr) = sidecar.wait().unwrap();
    assert_eq!(status.code(), Some(0), "{stderr}");
    assert!(stdout.contains("nodes") && !stderr.contains("stopped at once"), "{stdout}{stderr}");
}

#[test]
fn interrupt_ends_a_sidecar_that_stops_at_once_and_is_no_failure() {
    let Some(pod) = Pod::new() else { return };
    let mut sidecar = pod.start(&[]);
    let mut watching = pod.client(&pod.volumes.trusted());
    get(&mut watching, "/version");
    sidecar.signal(Signal::TERM).unwrap();
    // Signals within a moment count as one. This line comes after that moment.
    sidecar.stderr_line_with("stopping: ").unwrap();
    sidecar.signal(Signal::INT).unwrap();
    let (status, _, stderr) = sidecar.wait().unwrap();
    assert_eq!(status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("stopped at once"), "{stderr}");
}

#[test]
fn missing_parts_of_a_pod_are_errors_with_their_remedy() {
    let Some(pod) = Pod::new() else { return };
    let variables = kubelet_variables(pod.upstream.address());
    let container = pod.container();
    let fails = |variables: &[(&str, String)], words: &[&str]| {
        let mut sidecar = Sidecar::start_with(&pod.volumes, variables, &["--container", &container]).unwrap();
        let (status, _, stderr) = sidecar.wait().unwrap();
        assert_eq!(status.code(), Some(1), "{stderr}");
        assert!(words.iter().all(|word| stderr.contains(word)), "{words:?}: {stderr}");
    };
    fails(&[], &["--in-cluster: KUBERNETES_SERVICE_HOST is not set", "`watchtap inject`", "with a kubeconfig"]);
    fails(&variables[..1], &["KUBERNETES_SERVICE_PORT is not set"]);

    let itself = kubelet_variables(pod.address());
    fails(&itself, &["KUBERNETES_SERVICE_HOST", "where watchtap itself listens", &format!("--container {container}")]);

    fs::create_dir(pod.volumes.path("trust/ca.crt")).unwrap();
    fails(&variables, &["cannot write /var/run/secrets/watchtap/trust/ca.crt", "directory"]);
    fs::remove_dir(pod.volumes.path("trust/ca.crt")).unwrap();

    pod.volumes.publish_cluster_ca("no certificate").unwrap();
    let ca = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
    fails(&variables, &[ca, "contains no certificate", "mount the ConfigMap kube-root-ca.crt there"]);
    fs::remove_file(pod.volumes.path("cluster/ca.crt")).unwrap();
    fails(&variables, &[ca, "mount the ConfigMap kube-root-ca.crt there"]);
    assert!(!pod.volumes.path("trust/ca.crt").exists(), "nothing is written before everything is there");
}

#[test]
fn flags_of_a_sidecar_exclude_those_of_a_kubeconfig() {
    for (arguments, words) in [
        (&["--in-cluster"][..], "--container <NAME=PORT>"),
        (&["--container", "app=16443"], "--in-cluster"),
        (&["--in-cluster", "--container", "app=443"], "not a port from 1024"),
        (&["--in-cluster", "--container", "app=8080"], "plain HTTP"),
        (&["--in-cluster", "--container", "app=16443", "--context", "kind"], "cannot be used with"),
        (&["--in-cluster", "--container", "app=16443", "--kubeconfig", "file"], "cannot be used with"),
        (&["--in-cluster", "--container", "app=16443", "--upstream", "https://10.0.0.1"], "cannot be used with"),
        (&["--in-cluster", "--container", "app=16443", "--listen", "127.0.0.1:1"], "cannot be used with"),
        (&["--in-cluster", "--container", "app=16443", "--via", "server"], "cannot be used with"),
        (&["--in-cluster", "--container", "app=16443", "--or-demo"], "cannot be used with"),
        (&["--in-cluster", "--container", "app=16443", "--container", "app=16444"], "another port already"),
    ] {
        let mut command = watchtap().unwrap();
        let output = output_within(command.arg("run").args(arguments).env_remove("KUBECONFIG"), LIMIT).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(words), "{arguments:?}: {said}");
    }
    assert!(!Path::new("/var/run/secrets/watchtap").exists(), "the tests above do not run in a pod");
}

/// Whether the certificate that a client has got is valid for a name.
pub(super) fn is_valid_for(client: &ClientStream, trusted: &str, name: &'static str) -> bool {
    let shown = &client.conn.peer_certificates().unwrap()[0];
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(trusted.as_bytes()).map(Result::unwrap));
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::new(aws_lc_rs::default_provider()));
    let name = ServerName::try_from(name).unwrap();
    verifier.build().unwrap().verify_server_cert(shown, &[], &name, &[], UnixTime::now()).is_ok()
}

/// The body of the response to a GET.
#[track_caller]
pub(super) fn get(client: &mut ClientStream, path: &str) -> String {
    write!(client, "GET {path} HTTP/1.1\r\nHost: api\r\nUser-Agent: a-test/1.0\r\n\r\n").unwrap();
    read_response(client)
}

#[test]
fn user_of_these_pods_is_that_of_injected_ones() {
    assert_eq!(sidecar::USER, watchtap::pod_layout::USER);
}

/// The body of the next response.
#[track_caller]
fn read_response(client: &mut ClientStream) -> String {
    let head = observer_tests::read_head(client).unwrap().expect("a response");
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap().parse().unwrap();
    let mut body = vec![0; length];
    client.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

/// Waits until something holds; how soon it does is up to watchtap's own intervals.
#[track_caller]
pub(super) fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
