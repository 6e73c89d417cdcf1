//! A `watchtap exec` whose command only waits: the test itself is the client.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tempfile::TempDir;

use crate::bounded::wait_within;
use crate::client::{Client, Connections};
use crate::credentials::Identity;
use crate::watchtap::watchtap;

/// The command prints the edited kubeconfig and exits when its standard input closes.
const COMMAND: &str = r#"cat "$KUBECONFIG"; read -r line; exit 0"#;
/// Time limit for the shutdown; a longer one counts as a hang.
const ENDED_WITHIN: Duration = Duration::from_secs(30);

/// A `watchtap exec` whose command has its kubeconfig, until [`ExecSession::finish`]. Dropping it kills the process.
#[derive(Debug)]
pub struct ExecSession {
    child: Child,
    stdin: Option<ChildStdin>,
    kubeconfig: Value,
    folder: TempDir,
}

/// The output of a finished session.
#[derive(Debug)]
pub struct Finished {
    /// Exit status of watchtap.
    pub status: ExitStatus,
    /// The JSON report.
    pub report: Value,
    /// The lines of `--events`, including the schema line.
    pub events: Vec<Value>,
    /// Standard error of watchtap.
    pub stderr: String,
}

impl ExecSession {
    /// Starts a session on the kubeconfig of an API server. `arguments` follow `exec`.
    pub fn start(kubeconfig: &Path, arguments: &[&str]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut child = watchtap()?
            .args(["exec", "--format", "json", "--report"])
            .arg(folder.path().join("report.json"))
            .arg("--events")
            .arg(folder.path().join("events.jsonl"))
            .args(arguments)
            .args(["--", "sh", "-c", COMMAND])
            .env("KUBECONFIG", kubeconfig)
            .env("HOME", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.path().join("stderr"))?)
            .spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().context("standard output is a pipe")?;
        let mut session = Self { child, stdin, kubeconfig: Value::Null, folder };
        let shown = serde_json::Deserializer::from_reader(stdout).into_iter().next();
        session.kubeconfig =
            shown.transpose()?.with_context(|| format!("the command did not run; watchtap said: {}", session.stderr()))?;
        Ok(session)
    }

    /// The listener's address for the current context.
    pub fn address(&self) -> Result<SocketAddr> {
        self.address_of(self.current()?)
    }

    /// The listener's address for a context.
    pub fn address_of(&self, context: &str) -> Result<SocketAddr> {
        let server = self.server_of(context)?;
        let address = server.strip_prefix("https://").with_context(|| format!("{server} is not https"))?;
        let address = address.split('/').next().unwrap_or_default();
        address.parse().with_context(|| format!("{server} has no port on an address"))
    }

    /// The `server` URL of the current context in the edited kubeconfig.
    pub fn server(&self) -> Result<&str> {
        self.server_of(self.current()?)
    }

    fn server_of(&self, context: &str) -> Result<&str> {
        self.cluster(context)["server"].as_str().context("a cluster has a server")
    }

    /// The user's exec plugin, with the environment that the kubeconfig adds, to be run as clients run it.
    pub fn exec_plugin(&self) -> Result<Command> {
        let exec = &self.named(self.current()?, "users", "user")["exec"];
        let mut command = Command::new(exec["command"].as_str().context("the user has an exec plugin")?);
        command.args(exec["args"].as_array().into_iter().flatten().filter_map(Value::as_str));
        for variable in exec["env"].as_array().into_iter().flatten() {
            command.env(variable["name"].as_str().context("a name")?, variable["value"].as_str().context("a value")?);
        }
        Ok(command)
    }

    /// TLS configuration of a client of the current context, with these ALPN protocols.
    pub fn tls(&self, protocols: &[&[u8]]) -> Result<Arc<ClientConfig>> {
        self.tls_of(self.current()?, protocols)
    }

    /// TLS configuration of a client of this context, with these ALPN protocols.
    pub fn tls_of(&self, context: &str, protocols: &[&[u8]]) -> Result<Arc<ClientConfig>> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&decoded(&self.cluster(context)["certificate-authority-data"])?) {
            roots.add(certificate?)?;
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
        let builder = builder.with_safe_default_protocol_versions()?.with_root_certificates(roots);
        let user = self.named(context, "users", "user");
        let mut config = if user["client-certificate-data"].is_string() {
            let chain = CertificateDer::pem_slice_iter(&decoded(&user["client-certificate-data"])?).collect::<Result<_, _>>()?;
            builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(&decoded(&user["client-key-data"])?)?)?
        } else {
            builder.with_no_client_auth()
        };
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(Arc::new(config))
    }

    /// A client of the current context that keeps its connection and uses the credential of the kubeconfig's user.
    pub fn client(&self) -> Result<Client> {
        let context = self.current()?;
        let text = |value: &Value| Ok::<_, anyhow::Error>(String::from_utf8(decoded(value)?)?);
        let authority = text(&self.cluster(context)["certificate-authority-data"])?;
        let user = self.named(context, "users", "user");
        if let Some(token) = user["token"].as_str() {
            return Client::with_token(self.server()?, &authority, token, Connections::Kept);
        }
        let identity = Identity { certificate: text(&user["client-certificate-data"])?, key: text(&user["client-key-data"])? };
        Client::with_certificate(self.server()?, &authority, &identity, Connections::Kept)
    }

    /// Ends the command, waits for watchtap, and reads its output.
    pub fn finish(mut self) -> Result<Finished> {
        drop(self.stdin.take());
        let status = wait_within(&mut self.child, ENDED_WITHIN).with_context(|| self.stderr())?;
        let read = |name: &str| fs::read_to_string(self.folder.path().join(name)).with_context(|| format!("no {name}"));
        let report = serde_json::from_str(&read("report.json")?)?;
        let events = read("events.jsonl")?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        ensure!(status.code().is_some(), "watchtap ended by a signal: {status}");
        Ok(Finished { status, report, events, stderr: self.stderr() })
    }

    /// The edited kubeconfig that the command received.
    pub fn kubeconfig(&self) -> &Value {
        &self.kubeconfig
    }

    fn current(&self) -> Result<&str> {
        self.kubeconfig["current-context"].as_str().context("there is a current context")
    }

    fn cluster(&self, context: &str) -> &Value {
        self.named(context, "clusters", "cluster")
    }

    /// The cluster or user that a context refers to: `list` is `clusters` or `users`.
    fn named(&self, context: &str, list: &str, kind: &str) -> &Value {
        let context = &self.entry("contexts", &Value::from(context))["context"];
        &self.entry(list, &context[kind])[kind]
    }

    fn entry(&self, list: &str, name: &Value) -> &Value {
        let entries = self.kubeconfig[list].as_array().into_iter().flatten();
        entries.into_iter().find(|entry| entry["name"] == *name).unwrap_or(&Value::Null)
    }

    fn stderr(&self) -> String {
        fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }
}

impl Drop for ExecSession {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn decoded(text: &Value) -> Result<Vec<u8>> {
    Ok(BASE64_STANDARD.decode(text.as_str().context("the kubeconfig holds its certificates itself")?)?)
}
