//! `watchtap exec` on kubeconfigs with several contexts, on several files, and on none.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use observer_tests::{ExecSession, output_within, watchtap};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use serde_json::Value;
use tempfile::TempDir;

use super::upstream::Upstream;

const LIMIT: Duration = Duration::from_secs(30);
/// watchtap's own requests to a server, in any order.
const OURS: [&str; 2] = ["GET /version", "GET /metrics"];

#[test]
fn each_context_reaches_its_own_server_lazily() {
    let servers = [Upstream::start(), Upstream::start(), Upstream::start()];
    let place = Fixture::new(&servers);
    let session = ExecSession::start(&place.kubeconfig, &[]).unwrap();
    assert_eq!(set(servers[0].requests()), set(OURS), "that of the current context");
    let [_, second, third] = &servers;
    assert_eq!((second.connections(), third.connections()), (0, 0), "nothing is dialled before the first client");

    for context in ["context-0", "context-1"] {
        assert!(get(&session, context, "/api/v1/pods").unwrap().starts_with("HTTP/1.1 404"));
    }
    let report = session.finish().unwrap().report;
    assert_eq!(set(second.requests()), set(OURS.into_iter().chain(["GET /api/v1/pods"])));
    assert_eq!(third.connections(), 0);
    let requests = report["requests"].as_array().unwrap();
    let named: BTreeSet<&str> = requests.iter().map(|request| request["upstream"].as_str().unwrap()).collect();
    assert_eq!(named.len(), 2);
    assert!(named.contains(second.address().to_string().as_str()), "{named:?}");
    for request in requests {
        assert_eq!(request["verdict"]["rule"], "refused-by-status", "{request:#}");
    }
    let upstreams = report["upstreams"].as_array().unwrap();
    assert_eq!(upstreams.len(), 2);
    for upstream in upstreams {
        assert_eq!(upstream["profile"]["version"], "v1.34.4", "{upstream:#}");
    }
}

#[test]
fn single_used_server_is_not_named_in_the_report() {
    let servers = [Upstream::start(), Upstream::start()];
    let session = ExecSession::start(&Fixture::new(&servers).kubeconfig, &[]).unwrap();
    get(&session, "context-1", "/api/v1/pods").unwrap();
    let report = session.finish().unwrap().report;
    assert_eq!((&report["requests"][0]["upstream"], &report["upstreams"]), (&Value::Null, &Value::Null));
    assert_eq!(report["profile"]["version"].as_str().map(|version| version.trim_start_matches('v')), Some("1.34.4"));
}

#[test]
fn silent_server_does_not_prevent_the_report() {
    let (server, silent) = (Upstream::start(), TcpListener::bind("127.0.0.1:0").unwrap());
    let place = Fixture::new(&[server]);
    let address = silent.local_addr().unwrap();
    place.edit(|text| {
        text.replace("contexts:\n", "contexts:\n- {name: silent, context: {cluster: silent}}\n").replace(
            "clusters:\n",
            &format!("clusters:\n- {{name: silent, cluster: {{server: 'https://{address}', insecure-skip-tls-verify: true}}}}\n"),
        )
    });
    let session = ExecSession::start(&place.kubeconfig, &[]).unwrap();
    let waiting = TcpStream::connect(session.address_of("silent").unwrap()).unwrap();
    get(&session, "context-0", "/api/v1/pods").unwrap();
    drop(waiting);
    let report = session.finish().unwrap().report;
    assert_eq!(report["requests"].as_array().unwrap().len(), 1);
}

#[test]
fn listener_rejects_the_certificate_of_another_user() {
    let server = Upstream::start();
    let [one, other] = ["one", "other"].map(|name| user_with_certificate(&server, name));
    let place = Fixture::new(&[server]);
    place.edit(|text| {
        text.replace("users:\n", &format!("users:\n{one}{other}")).replace(
            "contexts:\n",
            "contexts:\n- {name: one, context: {cluster: cluster-0, user: one}}\n- {name: other, context: {cluster: cluster-0, user: other}}\n",
        )
    });
    let session = ExecSession::start(&place.kubeconfig, &[]).unwrap();
    for (listener, identity, let_in) in [
        ("one", "one", true),
        ("other", "other", true),
        ("one", "other", false),
        ("other", "one", false),
        ("one", "context-0", false),
    ] {
        let answer = get_as(&session, listener, identity, "/api/v1/pods");
        assert_eq!(answer.is_ok(), let_in, "{identity} at the listener of {listener}: {answer:?}");
    }
    let clusters: BTreeSet<String> =
        ["one", "other", "context-0"].map(|context| session.address_of(context).unwrap().to_string()).into();
    assert_eq!(clusters.len(), 3, "the one cluster has a listener for each user");
}

#[test]
fn skip_tls_verify_applies_only_to_its_own_cluster() {
    let (server, stranger) = (Upstream::start(), Upstream::start());
    let (address, trusted, strangers) = (server.address(), server.trusted(), stranger.trusted());
    let place = Fixture::new(&[server]);
    place.edit(|text| {
        text.replace(
            "clusters:\n",
            &format!(
                "clusters:\n- {{name: unchecked, cluster: {{server: 'https://{address}', insecure-skip-tls-verify: true}}}}\n\
                 - {{name: checked, cluster: {{server: 'https://{address}', {strangers}}}}}\n\
                 - {{name: renamed, cluster: {{server: 'https://{address}', tls-server-name: another.example, {trusted}}}}}\n"
            ),
        )
        .replace(
            "contexts:\n",
            "contexts:\n- {name: unchecked, context: {cluster: unchecked}}\n- {name: checked, context: {cluster: checked}}\n\
             - {name: renamed, context: {cluster: renamed}}\n",
        )
    });
    let session = ExecSession::start(&place.kubeconfig, &[]).unwrap();
    for (context, is_served) in [("unchecked", true), ("checked", false), ("renamed", false), ("context-0", true)] {
        let answer = get(&session, context, "/api/v1/pods");
        assert_eq!(answer.is_ok(), is_served, "{context}: {answer:?}");
    }
}

#[test]
fn unusable_context_is_named_and_others_still_work() {
    let server = Upstream::start();
    let place = Fixture::new(&[server]);
    place.edit(|text| text.replace("contexts:\n", "contexts:\n- {name: broken, context: {cluster: gone, user: user-0}}\n"));
    let session = ExecSession::start(&place.kubeconfig, &[]).unwrap();
    get(&session, "context-0", "/api/v1/pods").unwrap();
    let finished = session.finish().unwrap();
    assert!(
        finished.stderr.contains("`broken`") && finished.stderr.contains("there is no cluster \"gone\""),
        "{}",
        finished.stderr
    );

    check_failure(&place.exec(&["--context", "broken"]), &["there is no cluster \"gone\"", "contexts[0].context.cluster"]);
    check_failure(&place.exec(&["--context", "none"]), &["--context: there is no context \"none\"", "\"context-0\""]);
}

#[test]
fn context_flag_selects_the_current_context() {
    let servers = [Upstream::start(), Upstream::start()];
    let session = ExecSession::start(&Fixture::new(&servers).kubeconfig, &["--context", "context-1"]).unwrap();
    assert_eq!(session.kubeconfig()["current-context"], "context-1");
    assert_eq!((servers[0].connections(), servers[1].requests().len()), (0, OURS.len()));
}

#[test]
fn kubeconfig_flag_outranks_the_environment() {
    let place = Fixture::new(&[Upstream::start()]);
    let named = place.kubeconfig.to_str().unwrap();
    let session = ExecSession::start(Path::new("/absent"), &["--kubeconfig", named]).unwrap();
    get(&session, "context-0", "/api/v1/pods").unwrap();
    assert_eq!(session.finish().unwrap().report["requests"].as_array().unwrap().len(), 1);

    check_failure(&place.exec(&["--kubeconfig", "/absent"]), &["there is no /absent"]);
    check_failure(&place.exec(&["--kubeconfig", "a:b"]), &["--kubeconfig", "`:`"]);
    check_failure(&place.exec(&["--kubeconfig", named, "--upstream", "https://a"]), &["--kubeconfig", "--upstream"]);
}

#[test]
fn port_of_a_server_is_stable_and_unshared_across_runs() {
    let place = Fixture::new(&[Upstream::start()]);
    // No other test listens on this address, so the port is free again.
    let start = || ExecSession::start(&place.kubeconfig, &["--listen", "[::1]:0"]).unwrap();
    let [first, second] = [(); 2].map(|()| start());
    let ports = [&first, &second].map(|session| session.address().unwrap().port());
    assert_ne!(ports[0], ports[1]);
    for session in [first, second] {
        get(&session, "context-0", "/api/v1/pods").unwrap();
        assert_eq!(session.finish().unwrap().report["requests"].as_array().unwrap().len(), 1, "each sees its own clients");
    }
    let third = start();
    assert_eq!(third.address().unwrap().port(), ports[0]);
}

#[test]
fn upstream_flags_replace_a_kubeconfig() {
    let server = Upstream::start();
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("ca.crt");
    fs::write(&authority, server.authority()).unwrap();
    let url = format!("https://{}", server.address());
    for flags in
        [&["--upstream", &url, "--upstream-ca", authority.to_str().unwrap()][..], &["--upstream", &url, "--upstream-insecure"]]
    {
        let session = ExecSession::start(Path::new("/absent"), flags).unwrap();
        get(&session, "watchtap", "/api/v1/pods").unwrap();
        let report = session.finish().unwrap().report;
        assert_eq!(report["requests"][0]["resource"], "pods");
    }
    let place = Fixture::new(&[server]);
    check_failure(&place.exec(&["--upstream", "http://a"]), &["--upstream: server", "https"]);
    check_failure(&place.exec(&["--upstream", &url, "--upstream-ca", "/absent"]), &["/absent", "certificate-authority"]);
    check_failure(&place.exec(&["--upstream-insecure"]), &["--upstream <URL>"]);
    check_failure(&place.exec(&["--upstream", &url, "--context", "x"]), &["--context"]);
}

#[test]
fn listen_address_is_used_or_refused() {
    let place = Fixture::new(&[Upstream::start()]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    check_failure(&place.exec(&["--listen", &address.to_string()]), &[&address.to_string(), "in use", "choose another"]);
    check_failure(&place.exec(&["--listen", "0.0.0.0:7443"]), &["loopback", "127.0.0.1"]);
    check_failure(&place.exec(&["--listen", "7443"]), &["127.0.0.1:7443"]);
    drop(taken);
    let session = ExecSession::start(&place.kubeconfig, &["--listen", &address.to_string()]).unwrap();
    assert_eq!(session.address().unwrap(), address);
    check_failure(&place.exec(&["--listen", "127.0.0.2:7443"]), &["loopback", "127.0.0.1"]);
}

#[test]
fn auth_provider_user_is_left_in_its_own_file() {
    let place = Fixture::new(&[Upstream::start()]);
    let theirs = place.folder.path().join("theirs");
    fs::write(&theirs, "users: [{name: user-0, user: {auth-provider: {name: oidc, config: {refresh-token: s3cret}}}}]\n").unwrap();
    let list = format!("{}:{}", theirs.display(), place.kubeconfig.display());
    let show = "IFS=:; set -- $KUBECONFIG; echo $#; echo $2; cat $1";
    let output = output_within(place.command(&["exec", "--", "sh", "-c", show]).env("KUBECONFIG", list), LIMIT).unwrap();
    let (said, shown) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(shown.starts_with(&format!("2\n{}\n", theirs.display())), "{shown} {said}");
    assert!(!shown.contains("s3cret") && !said.contains("s3cret"), "the refresh token is where it was");
    assert!(said.contains("auth-provider of `user-0`") && said.contains("--kubeconfig"), "{said}");
}

#[test]
fn kubeconfig_of_the_client_keeps_the_token_file_path() {
    let place = Fixture::new(&[Upstream::start()]);
    place.edit(|text| text.replace("user: {token: token-0}", "user: {tokenFile: tokens/current}"));
    let session = ExecSession::start(&place.kubeconfig, &[]).unwrap();
    let user = session.kubeconfig()["users"].as_array().unwrap().iter().find(|user| user["name"] == "user-0").unwrap();
    assert_eq!(user["user"]["tokenFile"], place.folder.path().join("tokens/current").to_str().unwrap());
}

#[test]
fn certificate_files_are_reread_during_a_run() {
    let servers = [Upstream::start(), Upstream::start()];
    let [server, another] = &servers;
    let place = Fixture::new(&servers);
    place.edit(|text| {
        text.replace(&server.trusted(), "certificate-authority: ca.pem")
            .replace("user: {token: token-0}", "user: {client-certificate: user.pem, client-key: user.key}")
    });
    let write = |name: &str, text: String| fs::write(place.folder.path().join(name), text).unwrap();
    let present = |(certificate, key): &(rcgen::Certificate, String)| {
        write("user.pem", certificate.pem());
        write("user.key", key.clone());
    };
    let [before, after] = [server.user(), server.user()];
    present(&before);
    write("ca.pem", server.authority());
    let session = ExecSession::start(&place.kubeconfig, &[]).unwrap();
    let asks = || get(&session, "context-0", "/api/v1/pods");
    asks().unwrap();
    assert!(server.certificates().iter().all(|certificate| certificate == before.0.der()));

    present(&after);
    eventually(|| asks().is_ok() && server.certificates().last() == Some(after.0.der()));
    write("ca.pem", another.authority());
    eventually(|| asks().is_err());
    write("ca.pem", server.authority());
    eventually(|| asks().is_ok());
}

#[test]
fn ipv6_path_and_renamed_servers_are_reached() {
    let (sixth, renamed) =
        (Upstream::at(Ipv6Addr::LOCALHOST.into(), "::1"), Upstream::at(Ipv4Addr::LOCALHOST.into(), "kubernetes"));
    let (sixth_url, port) = (format!("https://{}", sixth.address()), renamed.address().port());
    let place = Fixture::new(&[sixth, renamed]);
    place.edit(|text| {
        text.replace(&format!("'{sixth_url}'"), &format!("'{sixth_url}/k8s/clusters/c-1'"))
            .replace(&format!("'https://127.0.0.1:{port}'"), &format!("'https://localhost:{port}', tls-server-name: kubernetes"))
    });
    let session = ExecSession::start(&place.kubeconfig, &[]).unwrap();
    get(&session, "context-0", "/k8s/clusters/c-1/api/v1/pods").unwrap();
    get(&session, "context-1", "/api/v1/pods").unwrap();
    let clusters = session.kubeconfig()["clusters"].to_string();
    assert!(clusters.contains("/k8s/clusters/c-1\"") && !clusters.contains("tls-server-name"), "{clusters}");
    let report = session.finish().unwrap().report;
    let mut seen: Vec<_> = report["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["upstream"].as_str().unwrap(), one["resource"].as_str().unwrap()))
        .collect();
    seen.sort_unstable();
    let [sixth, renamed] =
        [format!("{}/k8s/clusters/c-1", sixth_url.trim_start_matches("https://")), format!("localhost:{port} (kubernetes)")];
    assert_eq!(seen, [(sixth.as_str(), "pods"), (renamed.as_str(), "pods")]);
}

/// A kubeconfig with numbered contexts, clusters and users; the first context is current.
struct Fixture {
    folder: TempDir,
    kubeconfig: PathBuf,
}

impl Fixture {
    fn new(servers: &[Upstream]) -> Self {
        let of_each = |line: fn(usize, &Upstream) -> String| -> String {
            servers.iter().enumerate().map(|(number, server)| line(number, server)).collect()
        };
        let contexts = of_each(|number, _| {
            format!("- {{name: context-{number}, context: {{cluster: cluster-{number}, user: user-{number}}}}}\n")
        });
        let clusters = of_each(|number, server| {
            let (address, trusted) = (server.address(), server.trusted());
            format!("- {{name: cluster-{number}, cluster: {{server: 'https://{address}', {trusted}}}}}\n")
        });
        let users = of_each(|number, _| format!("- {{name: user-{number}, user: {{token: token-{number}}}}}\n"));
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        let text = format!("current-context: context-0\ncontexts:\n{contexts}clusters:\n{clusters}users:\n{users}");
        fs::write(&kubeconfig, text).unwrap();
        Self { folder, kubeconfig }
    }

    fn edit(&self, change: impl FnOnce(String) -> String) {
        let text = fs::read_to_string(&self.kubeconfig).unwrap();
        let changed = change(text.clone());
        assert_ne!(text, changed);
        fs::write(&self.kubeconfig, changed).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = watchtap().unwrap();
        command.args(arguments).env("KUBECONFIG", &self.kubeconfig).env("HOME", self.folder.path()).stdin(Stdio::null());
        command
    }

    fn exec(&self, flags: &[&str]) -> Output {
        output_within(&mut self.command(&[&["exec"], flags, &["--", "echo", "ran"]].concat()), LIMIT).unwrap()
    }
}

/// Polls until the condition holds.
#[track_caller]
fn eventually(condition: impl Fn() -> bool) {
    let limit = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < limit, "never so");
    }
}

fn user_with_certificate(server: &Upstream, name: &str) -> String {
    let (certificate, key) = server.user();
    let [certificate, key] = [certificate.pem(), key].map(|pem| BASE64_STANDARD.encode(pem));
    format!("- {{name: {name}, user: {{client-certificate-data: {certificate}, client-key-data: {key}}}}}\n")
}

fn get(session: &ExecSession, context: &str, path: &str) -> io::Result<String> {
    get_as(session, context, context, path)
}

/// Sends one request to the listener of `context`, with the certificate of `identity`; returns the complete response.
fn get_as(session: &ExecSession, context: &str, identity: &str, path: &str) -> io::Result<String> {
    let address = session.address_of(context).unwrap();
    let socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(LIMIT))?;
    let tls = session.tls_of(identity, &[b"http/1.1"]).unwrap();
    let connection = ClientConnection::new(tls, ServerName::from(address.ip())).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, socket);
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")?;
    let mut response = Vec::new();
    while !response.ends_with(b"}") {
        let mut bytes = [0; 4096];
        let read = stream.read(&mut bytes)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        response.extend_from_slice(&bytes[..read]);
    }
    Ok(String::from_utf8_lossy(&response).into_owned())
}

#[track_caller]
fn check_failure(output: &Output, said: &[&str]) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0), "{stderr}");
    for part in said {
        assert!(stderr.contains(part), "{part:?} is missing: {stderr}");
    }
}

fn set<R: Into<String>>(requests: impl IntoIterator<Item = R>) -> BTreeSet<String> {
    requests.into_iter().map(Into::into).collect()
}
