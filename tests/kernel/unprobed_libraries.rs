//! Tests that clients whose TLS library cannot be probed are reported, with programs that may not be installed.

use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::process::{Child, Command, Stdio};

use observer_core::series::ProbeFiles;
use observer_demo::{DemoConfig, DemoServer};
use observer_tests::watchtap;
use serde_json::Value;
use watchtap::tap::probe::ProbeOptions;

use super::clients::{arguments, of_clients};
use super::probe_output::{ProbeOutput, RunningProbe};

/// Watches namespaces, and prints each event.
const JAVA: &str = r#"
import java.io.*;
import java.net.URL;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.*;

class Watcher {
    public static void main(String[] arguments) throws Exception {
        var authority = CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(arguments[1].getBytes()));
        var trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null);
        trusted.setCertificateEntry("authority", authority);
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        var connection = (HttpsURLConnection) new URL("https://" + arguments[0] + "/api/v1/namespaces?watch=true").openConnection();
        connection.setSSLSocketFactory(context.getSocketFactory());
        connection.setRequestProperty("Authorization", "Bearer " + arguments[2]);
        var events = new BufferedReader(new InputStreamReader(connection.getInputStream()));
        for (String event; (event = events.readLine()) != null; ) {
            System.out.println(event);
        }
    }
}
"#;

/// A client that has received the first event of a watch. It is killed when this value is dropped.
struct Watcher(Child);

impl Watcher {
    /// `None`, with a message, if the program is missing or does not run this library.
    fn start(client: &mut Command, library: &str) -> Option<Self> {
        let program = client.get_program().to_string_lossy().into_owned();
        let leave_out = |why: &str| writeln!(std::io::stdout().lock(), "left out: {program} {why}").unwrap();
        let started = client.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        if started.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            leave_out("is not installed");
            return None;
        }
        let mut watcher = Self(started.unwrap());
        let mut event = String::new();
        BufReader::new(watcher.0.stdout.as_mut().unwrap()).read_line(&mut event).unwrap();
        assert!(event.contains("ADDED"), "{event:?}");
        if watcher.mapped(library).is_none() {
            leave_out(&format!("does not use {library}"));
            return None;
        }
        Some(watcher)
    }

    fn gnutls(server: &DemoServer) -> Option<Self> {
        let mut wget = Command::new("wget");
        wget.args(["--no-config", "--no-proxy", "--quiet", "--tries", "1", "--no-check-certificate", "--output-document", "-"]);
        wget.arg("--header").arg(format!("Authorization: Bearer {}", server.token()));
        Self::start(wget.arg(format!("https://{}/api/v1/namespaces?watch=true", server.address())), "libgnutls")
    }

    /// Debian's curl uses OpenSSL, and librtmp brings `GnuTLS`.
    fn openssl_beside_gnutls(server: &DemoServer) -> Option<Self> {
        let mut curl = Command::new("curl");
        curl.args(["--disable", "--silent", "--no-buffer", "--insecure", "--noproxy", "*"]);
        curl.arg("--header").arg(format!("Authorization: Bearer {}", server.token()));
        Self::start(curl.arg(format!("https://{}/api/v1/namespaces?watch=true", server.address())), "libgnutls")
    }

    fn id(&self) -> u32 {
        self.0.id()
    }

    /// The path of its mapped file whose name starts with `name`.
    fn mapped(&self, name: &str) -> Option<String> {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.id())).unwrap();
        let mut files = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
        files.find(|file| file.rsplit('/').next().unwrap().starts_with(name)).map(str::to_owned)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // Both calls fail only if it has already exited.
        let _killed = self.0.kill();
        let _reaped = self.0.wait();
    }
}

#[test]
fn gnutls_client_is_reported_only_if_it_is_connected_with_the_api_server_by_gnutls() {
    let [server, other] = [(); 2].map(|()| DemoServer::start(DemoConfig::default()).unwrap());
    let Some(elsewhere) = Watcher::gnutls(&other) else { return };
    let library = elsewhere.mapped("libgnutls").unwrap();
    let seen = Watcher::openssl_beside_gnutls(&server);
    // All running processes are examined when it has started.
    let mut probe = RunningProbe::start(&of_clients(server.address()));
    let why = |output: &ProbeOutput| -> Vec<String> {
        output.not_probed().filter(|(file, _)| *file == library).map(|(_, why)| why.to_owned()).collect()
    };
    assert_eq!(why(probe.output()), [""; 0]);

    let client = Watcher::gnutls(&server).unwrap();
    probe.until(|output| !why(output).is_empty());
    let reported = why(&probe.finish());
    let [reported] = reported.as_slice() else { panic!("{reported:?}") };
    assert!(reported.starts_with("the functions of GnuTLS are not probed"), "{reported}");
    assert!(reported.contains(&format!("wget (PID {}", client.id())), "{reported}");
    drop((elsewhere, seen, client));
}

#[test]
fn java_client_is_reported_with_its_library() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("Watcher.java");
    fs::write(&source, JAVA).unwrap();
    let mut java = Command::new("java");
    let Some(client) = Watcher::start(java.arg(source).args(arguments(&server)), "libjvm") else { return };

    let options = ProbeOptions { processes: vec![client.id()], ..of_clients(server.address()) };
    let output = ProbeOutput::during(&options, || {});
    let [(file, why)] = output.not_probed().collect::<Vec<_>>()[..] else { panic!("{output:?}") };
    assert_eq!(Some(file), client.mapped("libjvm").as_deref());
    assert!(why.starts_with("the Java VM compiles its own TLS"), "{why}");
    assert!(why.contains(&format!("java (PID {}", client.id())) && why.contains("use the proxy"), "{why}");
    assert_eq!(output.files, Some(ProbeFiles { all: 0, part: 0, none: 1 }));

    let check = watchtap().unwrap().args(["probe", "--check", "--format", "json"]).output().unwrap();
    let check: Value = serde_json::from_slice(&check.stdout).unwrap();
    let java = check["files"].as_array().unwrap().iter().find(|row| row["name"] == file).unwrap();
    assert_eq!((&java["seen"], &java["libraries"][0]["name"]), (&"Not".into(), &"Java (JSSE)".into()), "{java:#}");
}
